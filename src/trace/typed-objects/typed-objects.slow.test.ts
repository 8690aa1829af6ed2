import { describe, expect, it } from 'vitest'
import { documentsOf, type Fields, replyOf, useTestServer } from '../../testing.ts'

const server = useTestServer()

type GroupName = 'ops' | 'datasets' | 'scorers' | 'models' | 'evaluations'

const DATASET = 'weave:///test/p/object/d:abc'

/** A body for each group; another text makes another version. */
const BODIES: Record<GroupName, (name: string, text: string) => Fields> = {
  ops: (name, text) => ({ name, source_code: text }),
  datasets: (name, text) => ({ name, description: 'd', rows: [{ text }] }),
  scorers: (name, text) => ({ name, description: 'd', op_source_code: text }),
  models: (name, text) => ({ name, description: 'd', source_code: text }),
  evaluations: (name, text) => ({ name, description: 'd', dataset: DATASET, evaluation_name: text }),
}

const create = async (project: string, group: GroupName, body: Fields) =>
  replyOf(await server.post(`/v2/${project}/${group}`, body))

const read = (project: string, group: GroupName, id: string, digest = 'latest') =>
  server.request(`/v2/${project}/${group}/${id}/versions/${digest}`)

const list = async (project: string, group: GroupName, query = '') =>
  documentsOf<Fields>(await server.request(`/v2/${project}/${group}${query}`))

const remove = (project: string, group: GroupName, rest: string) =>
  server.request(`/v2/${project}/${group}/${rest}`, { method: 'DELETE' })

async function objectOf(project_id: string, { object_id, digest }: Fields): Promise<Fields> {
  const { obj } = await replyOf(await server.post('/obj/read', { project_id, object_id, digest }))
  return obj as Fields
}

const publish = async (project_id: string, object_id: string, val: unknown) =>
  replyOf(await server.post('/obj/create', { obj: { project_id, object_id, val } }))

const instance = (className: string, fields: Fields = {}, bases: string[] = []): Fields => ({
  _type: className,
  _class_name: className,
  _bases: [...bases, 'Object', 'BaseModel'],
  ...fields,
})

/** Tests of creating that hold for every group. */
function itCreates(group: GroupName, wrong: readonly Fields[]): void {
  it('200 with one version for the same body twice, and a new one for another', async () => {
    const project = server.newProject()
    const body = BODIES[group]('My Own/Thing!', 'one')
    const first = await create(project, group, body)
    expect(first).toMatchObject({ object_id: 'my_own_thing', version_index: 0 })
    expect(await create(project, group, body)).toEqual(first)
    expect(await create(project, group, BODIES[group]('My Own/Thing!', 'two'))).toMatchObject({
      object_id: 'my_own_thing',
      version_index: 1,
    })
  })

  it('400 and 403 for names that no object can have, and nothing is written', async () => {
    const project = server.newProject()
    const statusOf = async (name: string) =>
      (await server.post(`/v2/${project}/${group}`, BODIES[group](name, 'x'))).status
    expect([await statusOf('x'.repeat(129)), await statusOf('!!')]).toEqual([400, 403])
    const { objs } = await replyOf(await server.post('/objs/query', { project_id: project }))
    expect(objs).toEqual([])
  })

  it('422 for wrong types', async () => {
    for (const body of wrong) {
      const response = await server.post(`/v2/${server.newProject()}/${group}`, body)
      expect(response.status, JSON.stringify(body)).toBe(422)
    }
  })
}

function itLists(group: GroupName): void {
  it('200 with live versions in the order of their creation, by pages; with none for a new project', async () => {
    const project = server.newProject()
    expect(await list(project, group)).toEqual([])
    for (const name of ['a', 'b', 'c']) await create(project, group, BODIES[group](name, name))
    const isOwn = ({ object_id }: Fields) => /^[abc]$/.test(String(object_id))
    expect((await list(project, group)).filter(isOwn).map(({ object_id }) => object_id)).toEqual([
      'a',
      'b',
      'c',
    ])
    expect(await list(project, group, '?limit=1&offset=1')).toMatchObject([{ object_id: 'b' }])
    await remove(project, group, 'b')
    expect(await list(project, group, '?limit=1&offset=1')).toMatchObject([{ object_id: 'c' }])
  })

  it('400 and 422 for invalid pages', async () => {
    const statusOf = async (query: string) =>
      (await server.request(`/v2/${server.newProject()}/${group}?${query}`)).status
    expect([await statusOf('limit=-1'), await statusOf('limit=x')]).toEqual([400, 422])
  })
}

function itReads(group: GroupName): void {
  it('200 by digest, index, alias and latest', async () => {
    const project = server.newProject()
    const first = await create(project, group, BODIES[group]('thing', 'one'))
    const second = await create(project, group, BODIES[group]('thing', 'two'))
    const aliases = { project_id: project, digest: first['digest'], aliases: ['prod'] }
    const put = { method: 'PUT', body: JSON.stringify(aliases) }
    await replyOf(await server.request('/objs/thing/aliases', put))
    for (const name of ['v0', 'prod', String(first['digest'])])
      expect(await replyOf(await read(project, group, 'thing', name))).toMatchObject({
        digest: first['digest'],
      })
    expect(await replyOf(await read(project, group, 'thing'))).toMatchObject({
      object_id: 'thing',
      digest: second['digest'],
      version_index: 1,
    })
  })

  it('404 for a version that does not exist, belongs to another project or is of another group', async () => {
    const project = server.newProject()
    await create(project, group, BODIES[group]('thing', 'one'))
    await publish(project, 'other', instance('Something'))
    const statuses = [
      await read(project, group, 'nobody'),
      await read(project, group, 'thing', 'v9'),
      await read(server.newProject(), group, 'thing'),
      await read(project, group, 'other'),
    ].map((response) => response.status)
    expect(statuses).toEqual([404, 404, 404, 404])
  })
}

function itDeletes(group: GroupName): void {
  it('200 with how many; 404 with deleted_at after that, until it is created again', async () => {
    const project = server.newProject()
    for (const text of ['one', 'two', 'three']) await create(project, group, BODIES[group]('thing', text))
    expect(await replyOf(await remove(project, group, 'thing?digests=v0&digests=v1'))).toEqual({
      num_deleted: 2,
    })
    const gone = await read(project, group, 'thing', 'v0')
    expect([gone.status, await gone.json()]).toEqual([
      404,
      { reason: expect.stringContaining('v0'), deleted_at: expect.any(String) },
    ])
    expect((await remove(project, group, 'thing?digests=v0')).status).toBe(404)
    expect(await replyOf(await remove(project, group, 'thing'))).toEqual({ num_deleted: 1 })
    expect((await remove(project, group, 'thing')).status).toBe(404)
    await create(project, group, BODIES[group]('thing', 'one'))
    expect(await replyOf(await read(project, group, 'thing'))).toMatchObject({ version_index: 0 })
  })

  it('404 and nothing deleted where one of several is unknown, or of another group', async () => {
    const project = server.newProject()
    await create(project, group, BODIES[group]('thing', 'one'))
    await publish(project, 'other', instance('Something'))
    expect((await remove(project, group, 'thing?digests=v0&digests=v9')).status).toBe(404)
    expect((await remove(project, group, 'other')).status).toBe(404)
    expect((await read(project, group, 'thing')).status).toBe(200)
  })
}

describe('POST /v2/{entity}/{project}/ops', () => {
  itCreates('ops', [{ name: 1 }, { source_code: [] }])

  it('200 as the object that clients publish, also without a name and a source', async () => {
    const project = server.newProject()
    const op = await create(project, 'ops', { name: 'add', source_code: 'def add(): pass\n' })
    expect(await objectOf(project, op)).toMatchObject({
      kind: 'op',
      val: { _type: 'CustomWeaveType', weave_type: { type: 'Op' }, files: { 'obj.py': expect.any(String) } },
    })
    expect(await create(project, 'ops', {})).toMatchObject({ object_id: 'Op' })
    expect(await replyOf(await read(project, 'ops', 'Op'))).toMatchObject({
      code: expect.stringContaining('def'),
    })
  })
})

describe('GET /v2/{entity}/{project}/ops', () => {
  itLists('ops')

  it('200 with the latest version of each', async () => {
    const project = server.newProject()
    for (const text of ['one', 'two']) await create(project, 'ops', BODIES.ops('thing', text))
    expect(await list(project, 'ops')).toMatchObject([{ version_index: 1, code: 'two' }])
  })
})

describe('GET /v2/{entity}/{project}/ops/{object_id}/versions/{digest}', () => {
  itReads('ops')

  it('200 with no code where the file is not there', async () => {
    const project = server.newProject()
    await publish(project, 'gone', {
      _type: 'CustomWeaveType',
      weave_type: { type: 'Op' },
      files: { 'obj.py': 'x' },
    })
    expect(await replyOf(await read(project, 'ops', 'gone'))).toMatchObject({ code: '' })
  })

  it('200 for an op with the name of an object of another kind', async () => {
    const project = server.newProject()
    await create(project, 'ops', BODIES.ops('same', 'code'))
    await create(project, 'datasets', BODIES.datasets('same', 'rows'))
    expect(await replyOf(await read(project, 'ops', 'same'))).toMatchObject({
      code: 'code',
      version_index: 0,
    })
    expect(await replyOf(await remove(project, 'ops', 'same'))).toEqual({ num_deleted: 1 })
    expect((await read(project, 'datasets', 'same')).status).toBe(200)
  })
})

describe('DELETE /v2/{entity}/{project}/ops/{object_id}', () => itDeletes('ops'))

describe('POST /v2/{entity}/{project}/datasets', () => {
  itCreates('datasets', [{}, { rows: null }, { rows: [1] }])

  it('200 with rows in a table, numbers as they were written', async () => {
    const project = server.newProject()
    const body = '{"rows":[{"n":1.0},{"n":12345678901234567890}]}'
    const made = await replyOf(await server.request(`/v2/${project}/datasets`, { method: 'POST', body }))
    expect(made).toMatchObject({ object_id: 'Dataset' })
    const { val } = await objectOf(project, made)
    const digest = String((val as Fields)['rows'])
      .split('/')
      .at(-1)
    const rows = await server.post('/table/query', { project_id: project, digest })
    expect(await rows.text()).toMatch(/"n":1\.0.*"n":12345678901234567890/)
  })
})

describe('GET /v2/{entity}/{project}/datasets', () => itLists('datasets'))

describe('GET /v2/{entity}/{project}/datasets/{object_id}/versions/{digest}', () => {
  itReads('datasets')

  it('200 for one that a client published without a name and with a subclass', async () => {
    const project = server.newProject()
    await publish(project, 'own', instance('Mine', { name: null, rows: 'weave:///a/b/table/c' }, ['Dataset']))
    expect(await replyOf(await read(project, 'datasets', 'own'))).toMatchObject({
      name: 'own',
      description: null,
      rows: 'weave:///a/b/table/c',
    })
  })

  it('200 with the latest of the group where the newest version is of another', async () => {
    const project = server.newProject()
    await create(project, 'datasets', BODIES.datasets('thing', 'one'))
    await create(project, 'models', BODIES.models('thing', 'two'))
    expect(await replyOf(await read(project, 'datasets', 'thing'))).toMatchObject({ version_index: 0 })
    expect(await replyOf(await read(project, 'models', 'thing'))).toMatchObject({ version_index: 1 })
  })
})

describe('DELETE /v2/{entity}/{project}/datasets/{object_id}', () => itDeletes('datasets'))

describe('POST /v2/{entity}/{project}/scorers', () => {
  itCreates('scorers', [{}, { name: 'x' }, { name: null, op_source_code: 'x' }])

  it('200 with the ops that it consists of', async () => {
    const project = server.newProject()
    const made = await create(project, 'scorers', BODIES.scorers('Match', 'def score(): pass\n'))
    expect(made['scorer']).toBe(`weave:///${project}/object/match:${String(made['digest'])}`)
    const score = await replyOf(await read(project, 'ops', 'match_score'))
    const summarize = await replyOf(await read(project, 'ops', 'match_summarize'))
    expect(score['code']).toBe('def score(): pass\n')
    expect(await objectOf(project, made)).toMatchObject({
      base_object_class: 'Scorer',
      val: instance('Scorer', {
        name: 'Match',
        description: 'd',
        score: score['digest'],
        summarize: summarize['digest'],
        column_map: null,
      }),
    })
  })

  it('400 for a name that leaves no room for the names of its ops, and nothing is written', async () => {
    const project = server.newProject()
    const response = await server.post(`/v2/${project}/scorers`, BODIES.scorers('x'.repeat(120), 'x'))
    expect(response.status).toBe(400)
    expect(await list(project, 'ops')).toEqual([])
  })
})

describe('GET /v2/{entity}/{project}/scorers', () => itLists('scorers'))
describe('GET /v2/{entity}/{project}/scorers/{object_id}/versions/{digest}', () => itReads('scorers'))
describe('DELETE /v2/{entity}/{project}/scorers/{object_id}', () => itDeletes('scorers'))

describe('POST /v2/{entity}/{project}/models', () => {
  itCreates('models', [{}, { name: 'x' }, { name: 'x', source_code: 'x', attributes: [] }])

  it('200 with attributes beside its fields, and read apart from them, numbers as they were written', async () => {
    const project = server.newProject()
    const body = '{"name":"m","source_code":"x","attributes":{"t":1.0,"deep":{"a":[1]}}}'
    const made = await replyOf(await server.request(`/v2/${project}/models`, { method: 'POST', body }))
    expect(made['model_ref']).toBe(`weave:///${project}/object/m:${String(made['digest'])}`)
    expect(await objectOf(project, made)).toMatchObject({
      base_object_class: 'Model',
      val: instance('Model', { name: 'm', description: null, t: 1, deep: { a: [1] } }),
    })
    const text = await (await read(project, 'models', 'm')).text()
    expect(text).toContain('"attributes":{"t":1.0,"deep":{"a":[1]}}')
  })

  it('400 for an attribute with the name of a field, and nothing is written', async () => {
    const project = server.newProject()
    for (const field of ['name', 'description', '_class_name', 'files']) {
      const body = { ...BODIES.models('m', 'x'), attributes: { [field]: 'y' } }
      expect((await server.post(`/v2/${project}/models`, body)).status, field).toBe(400)
    }
    expect(await list(project, 'models')).toEqual([])
    expect(await replyOf(await server.post('/files/query_stats', { project_id: project }))).toEqual({
      total_size_bytes: 0,
    })
  })
})

describe('GET /v2/{entity}/{project}/models', () => {
  itLists('models')

  it('200 with those that clients published without a source file', async () => {
    const project = server.newProject()
    await publish(project, 'own', instance('Mine', { size: 1 }, ['Model']))
    expect(await list(project, 'models')).toMatchObject([{ source_code: '', attributes: { size: 1 } }])
  })
})

describe('GET /v2/{entity}/{project}/models/{object_id}/versions/{digest}', () => {
  itReads('models')

  it('400 for one without a source file', async () => {
    const project = server.newProject()
    await publish(project, 'own', instance('Mine', { size: 1 }, ['Model']))
    expect((await read(project, 'models', 'own')).status).toBe(400)
  })
})

describe('DELETE /v2/{entity}/{project}/models/{object_id}', () => itDeletes('models'))

describe('POST /v2/{entity}/{project}/evaluations', () => {
  itCreates('evaluations', [
    {},
    { name: 'x' },
    { name: 'x', dataset: 'd', trials: 'y' },
    { name: 'x', dataset: 'd', trials: 0 },
  ])

  it('200 with its ops, scorers and attributes', async () => {
    const project = server.newProject()
    const scorers = ['weave:///test/p/object/s:abc']
    const made = await create(project, 'evaluations', {
      ...BODIES.evaluations('e', 'nightly'),
      scorers,
      trials: 3,
      eval_attributes: { owner: 'me', metadata: { a: 1 } },
    })
    expect(made['evaluation_ref']).toBe(`weave:///${project}/object/e:${String(made['digest'])}`)
    const evaluate = await replyOf(await read(project, 'ops', 'e.evaluate'))
    const fields = {
      name: 'e',
      description: 'd',
      dataset: DATASET,
      scorers,
      trials: 3,
      evaluation_name: 'nightly',
    }
    expect(await replyOf(await read(project, 'evaluations', 'e'))).toMatchObject({
      ...fields,
      evaluate_op: evaluate['digest'],
    })
    expect(await objectOf(project, made)).toMatchObject({
      base_object_class: 'Evaluation',
      val: instance('Evaluation', { ...fields, owner: 'me', metadata: { a: 1 } }),
    })
  })

  it('400 for an attribute that is a field already', async () => {
    const body = { ...BODIES.evaluations('e', 'x'), eval_attributes: { dataset: 'other' } }
    const project = server.newProject()
    expect((await server.post(`/v2/${project}/evaluations`, body)).status).toBe(400)
    expect(await list(project, 'ops')).toEqual([])
  })
})

describe('GET /v2/{entity}/{project}/evaluations', () => itLists('evaluations'))
describe('GET /v2/{entity}/{project}/evaluations/{object_id}/versions/{digest}', () => itReads('evaluations'))
describe('DELETE /v2/{entity}/{project}/evaluations/{object_id}', () => itDeletes('evaluations'))
