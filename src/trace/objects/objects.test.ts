import { describe, expect, it } from 'vitest'
import { type Fields, useTestServer } from '../../testing.ts'
import { nowIso } from '../../time.ts'
import { DIGESTS } from '../test-digests.ts'

const server = useTestServer()

async function create(
  project_id: string,
  object_id: string,
  val: unknown,
  fields: Fields = {},
): Promise<string> {
  const response = await server.post('/obj/create', { obj: { project_id, object_id, val, ...fields } })
  const text = await response.text()
  expect(response.status, text).toBe(200)
  const reply = JSON.parse(text) as { digest: string; object_id: string }
  expect(reply.object_id).toBe(object_id)
  return reply.digest
}

function read(project_id: string, object_id: string, digest: string, fields: Fields = {}): Promise<Response> {
  return server.post('/obj/read', { project_id, object_id, digest, ...fields })
}

async function obj(
  project_id: string,
  object_id: string,
  digest: string,
  fields: Fields = {},
): Promise<Fields> {
  const response = await read(project_id, object_id, digest, fields)
  const text = await response.text()
  expect(response.status, text).toBe(200)
  return (JSON.parse(text) as { obj: Fields }).obj
}

async function query(project_id: string, fields: Fields = {}): Promise<Fields[]> {
  const response = await server.post('/objs/query', { project_id, ...fields })
  const text = await response.text()
  expect(response.status, text).toBe(200)
  return (JSON.parse(text) as { objs: Fields[] }).objs
}

function remove(project_id: string, object_id: string, digests?: string[]): Promise<Response> {
  return server.post('/obj/delete', { project_id, object_id, digests })
}

const OP = { _type: 'CustomWeaveType', weave_type: { type: 'Op' }, files: {} }
const CLASSES: [string, Fields, string | null, string | null][] = [
  ['own', { _class_name: 'A', _bases: ['Object', 'BaseModel'] }, 'A', 'A'],
  ['derived', { _class_name: 'B', _bases: ['A', 'Object', 'BaseModel'] }, 'A', 'B'],
  ['older', { _class_name: 'B', _bases: ['A', 'BaseObject', 'BaseModel'] }, 'A', 'B'],
  ['not', { _class_name: 'B', _bases: ['Object'] }, null, null],
  ['other', { _class_name: 'B', _bases: ['Object', 'Other'] }, null, null],
  ['none', {}, null, null],
  ['odd', { _class_name: 'B', _bases: [{ toString: 1, valueOf: 1 }, 'Object', 'BaseModel'] }, 'B', 'B'],
]

describe('POST /obj/create', () => {
  it.each([...DIGESTS, ['{"__proto__":{"x":1e400},"2":"","1":[]}', undefined]])(
    '200 and %s reads back as it was sent',
    async (text, digest) => {
      const project_id = server.newProject()
      const body = `{"obj":{"project_id":"${project_id}","object_id":"o","val":${text}}}`
      const response = await server.request('/obj/create', { method: 'POST', body })
      expect(response.status).toBe(200)
      const reply = (await response.json()) as { digest: string }
      if (digest !== undefined) expect(reply.digest).toBe(digest)
      const found = await read(project_id, 'o', reply.digest)
      expect(await found.text()).toContain(`"val":${text},`)
    },
  )

  it('200 with the same version for the same content, whatever the order of its keys', async () => {
    const project = server.newProject()
    const first = await create(project, 'o', { a: 1, b: 2 })
    await create(project, 'o', { a: 2 })
    expect(await create(project, 'o', { b: 2, a: 1 })).toBe(first)
    expect(await query(project)).toMatchObject([
      { digest: first, version_index: 0, is_latest: 0 },
      { version_index: 1, is_latest: 1 },
    ])
  })

  it.each(CLASSES)('200 with the classes of an instance: %s', async (object_id, val, base, leaf) => {
    const project = server.newProject()
    const found = await obj(project, object_id, await create(project, object_id, val))
    expect(found).toMatchObject({
      kind: 'object',
      base_object_class: base,
      leaf_object_class: leaf,
      wb_user_id: 'local',
    })
  })

  it('200 for a builtin class that the value is of, and for names of any script', async () => {
    const project = server.newProject()
    const val = { _class_name: 'Leaderboard', _bases: ['BaseObject', 'BaseModel'] }
    await create(project, 'ünïcode_名前.-1', val, { builtin_object_class: 'Leaderboard' })
    await create(project, 'x'.repeat(128), val, { set_base_object_class: 'Leaderboard' })
    await create(project, '𠀀'.repeat(128), val, { set_base_object_class: 'Leaderboard' })
  })

  it.each<[number, string, Fields]>([
    [400, 'an unknown builtin class', { val: {}, builtin_object_class: 'Nope' }],
    [400, 'a builtin class for what is no object', { val: 1, builtin_object_class: 'Leaderboard' }],
    [
      400,
      'a builtin class the value is not of',
      { val: { _class_name: 'A', _bases: ['Object', 'BaseModel'] }, builtin_object_class: 'Leaderboard' },
    ],
    [400, 'a malformed ref', { val: { a: ['weave:///x'] } }],
    [400, 'an internal ref', { val: 'weave-trace-internal:///x/object/y:z' }],
    [400, 'a long name', { object_id: 'x'.repeat(129) }],
    [403, 'a name with other characters', { object_id: "o'; DROP TABLE objects" }],
    [403, 'a path as name', { object_id: '../o' }],
    [403, 'an empty name', { object_id: '' }],
    [400, 'an invalid project', { project_id: 'p' }],
    [409, 'another digest than expected', { expected_digest: 'x' }],
  ])('%i for %s, and nothing is stored', async (status, _name, fields) => {
    const project_id = server.newProject()
    const response = await server.post('/obj/create', {
      obj: { project_id, object_id: 'o', val: {}, ...fields },
    })
    expect(response.status).toBe(status)
    expect(await response.json()).toEqual({ reason: expect.any(String) })
    expect(await query(project_id)).toEqual([])
  })

  it('400 for a value nested too deeply', async () => {
    const val = '['.repeat(100_000) + ']'.repeat(100_000)
    const body = `{"obj":{"project_id":"${server.newProject()}","object_id":"o","val":${val}}}`
    expect((await server.request('/obj/create', { method: 'POST', body })).status).toBe(400)
  })

  it('422 for missing and wrong fields', async () => {
    const response = await server.post('/obj/create', { obj: { object_id: 1 } })
    const { detail } = (await response.json()) as { detail: { loc: string[]; type: string }[] }
    expect(response.status).toBe(422)
    expect(detail.map((item) => [item.loc.join('.'), item.type])).toEqual([
      ['body.obj.project_id', 'missing'],
      ['body.obj.object_id', 'string_type'],
      ['body.obj.val', 'missing'],
    ])
  })
})

describe('POST /obj/read', () => {
  it('200 by digest, by index and as latest', async () => {
    const project = server.newProject()
    const digests = [await create(project, 'o', { v: 0 }), await create(project, 'o', { v: 1 })]
    for (const [name, index] of [
      [digests[0], 0],
      ['v0', 0],
      ['v1', 1],
      ['latest', 1],
    ] as const) {
      expect(await obj(project, 'o', String(name))).toEqual({
        project_id: project,
        object_id: 'o',
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        deleted_at: null,
        digest: digests[index],
        version_index: index,
        is_latest: index,
        kind: 'object',
        base_object_class: null,
        leaf_object_class: null,
        val: { v: index },
        wb_user_id: 'local',
        size_bytes: null,
        tags: null,
        aliases: null,
      })
    }
  })

  it('200 with metadata only, and with tags and aliases, on request', async () => {
    const project = server.newProject()
    await create(project, 'o', { v: 0 })
    await create(project, 'o', { v: 1 })
    const asked = { metadata_only: true, include_tags_and_aliases: true }
    expect(await obj(project, 'o', 'v1', asked)).toMatchObject({ val: {}, tags: [], aliases: ['latest'] })
    expect(await obj(project, 'o', 'v0', asked)).toMatchObject({ val: {}, tags: [], aliases: [] })
  })

  it.each(['x'.repeat(43), 'v2', 'v99999999999999999999', 'an-alias', "' OR 1=1 --"])(
    '404 for the version %s',
    async (digest) => {
      const project = server.newProject()
      await create(project, 'o', {})
      const response = await read(project, 'o', digest)
      expect(response.status).toBe(404)
      expect(await response.json()).toEqual({ reason: `Obj o:${digest} not found` })
    },
  )

  it("404 for another project's object and another name", async () => {
    const project = server.newProject()
    const digest = await create(project, 'o', {})
    expect((await read(server.newProject(), 'o', digest)).status).toBe(404)
    expect((await read(project, 'p', digest)).status).toBe(404)
    expect((await read(server.newProject(), 'o', 'latest')).status).toBe(404)
  })

  it('404 with deleted_at for a deleted version', async () => {
    const project = server.newProject()
    const digest = await create(project, 'o', {})
    await remove(project, 'o', [digest])
    for (const name of [digest, 'v0', 'latest']) {
      const response = await read(project, 'o', name)
      expect(response.status).toBe(404)
      const body = (await response.json()) as { deleted_at: string }
      expect(body).toEqual({
        reason: `o:v0 was deleted at ${body.deleted_at}`,
        deleted_at: expect.any(String),
      })
    }
  })
})

describe('POST /obj/delete', () => {
  it('200 and the version before it is the latest; published again, it is back with its old index', async () => {
    const project = server.newProject()
    const digests = [await create(project, 'o', { v: 0 }), await create(project, 'o', { v: 1 })]
    const response = await remove(project, 'o', ['latest'])
    expect(await response.json()).toEqual({
      num_deleted: 1,
      deleted_versions: [{ digest: digests[1], base_object_class: null, leaf_object_class: null }],
    })
    expect(await query(project)).toMatchObject([{ digest: digests[0], is_latest: 1 }])
    expect(await obj(project, 'o', 'latest')).toMatchObject({ digest: digests[0] })
    await create(project, 'o', { v: 2 })
    const before = Date.parse(nowIso())
    await create(project, 'o', { v: 1 })
    const found = await query(project)
    expect(found).toMatchObject([
      { digest: digests[0], version_index: 0, is_latest: 0 },
      { version_index: 2, is_latest: 1 },
      { digest: digests[1], version_index: 1, is_latest: 0, deleted_at: null, val: { v: 1 } },
    ])
    // It was created when it was published again.
    expect(Date.parse(String(found[2]?.['created_at']))).toBeGreaterThanOrEqual(before)
    await create(project, 'o', { v: 1 })
    expect(await query(project)).toEqual(found)
    await remove(project, 'o', ['v1'])
    expect(await query(project)).toEqual(found.slice(0, 2))
  })

  it('200 for every live version when none is named', async () => {
    const project = server.newProject()
    for (const v of [0, 1, 2]) await create(project, 'o', { v })
    await create(project, 'other', {})
    await remove(project, 'o', ['v0'])
    expect(await (await remove(project, 'o')).json()).toMatchObject({ num_deleted: 2 })
    expect(await query(project)).toMatchObject([{ object_id: 'other' }])
    expect((await remove(project, 'o')).status).toBe(404)
  })

  it('404 when one of the named versions is not there, and none is deleted', async () => {
    const project = server.newProject()
    const digest = await create(project, 'o', {})
    const response = await remove(project, 'o', [digest, 'v1', 'v7'])
    expect(response.status).toBe(404)
    expect(await response.json()).toEqual({
      reason: 'Delete request contains 3 digests, but found 1 objects to delete. Not found: v1, v7',
    })
    expect((await remove(server.newProject(), 'o', [digest])).status).toBe(404)
    expect((await remove(project, 'o', [])).status).toBe(404)
    expect(await query(project)).toHaveLength(1)
    expect(await (await remove(project, 'o', [digest, 'v0', 'latest'])).json()).toMatchObject({
      num_deleted: 1,
    })
  })

  it('400 for more than 100 versions', async () => {
    const digests = Array.from({ length: 101 }, (_, index) => `v${index}`)
    expect((await remove(server.newProject(), 'o', digests)).status).toBe(400)
  })
})

describe('POST /objs/query', () => {
  async function seeded(): Promise<string> {
    const project = server.newProject()
    await create(project, 'b', { v: 0 })
    await create(project, 'op', OP)
    for (const [name, val] of CLASSES.slice(0, 2)) await create(project, name, val)
    await create(project, 'b', { v: 1 })
    return project
  }

  const cases: [Fields, string[]][] = [
    [{}, ['b:0', 'op:0', 'own:0', 'derived:0', 'b:1']],
    [{ filter: { latest_only: true } }, ['op:0', 'own:0', 'derived:0', 'b:1']],
    [{ filter: { is_op: true } }, ['op:0']],
    [{ filter: { is_op: false, object_ids: ['b', 'op'] } }, ['b:0', 'b:1']],
    [{ filter: { base_object_classes: ['A'] } }, ['own:0', 'derived:0']],
    [{ filter: { leaf_object_classes: ['B'] } }, ['derived:0']],
    [{ filter: { exclude_base_object_classes: ['Z'] } }, ['own:0', 'derived:0']],
    [{ filter: { object_ids: [], base_object_classes: null } }, ['b:0', 'op:0', 'own:0', 'derived:0', 'b:1']],
    [{ filter: { name_contains: 'O' } }, ['op:0', 'own:0']],
    [{ filter: { name_contains: 'o%', object_ids: ['op'] } }, []],
    [{ filter: { name_contains: 'o', latest_only: true }, offset: 1, limit: 1 }, ['own:0']],
    [{ filter: { tags: ['prod'] } }, []],
    [{ filter: { aliases: ['staging'] } }, []],
    [{ filter: { aliases: ['staging', 'latest'], object_ids: ['b'] } }, ['b:1']],
    [{ sort_by: [{ field: 'created_at', direction: 'desc' }], limit: 2 }, ['b:1', 'derived:0']],
    [{ sort_by: [{ field: 'object_id', direction: 'asc' }], offset: 3 }, ['op:0', 'own:0']],
    [{ sort_by: [{ field: 'val; DROP TABLE objects', direction: 'asc' }], limit: 1 }, ['b:0']],
    [{ limit: 0 }, []],
    [{ filter: { object_ids: ["' OR 1=1 --"] } }, []],
  ]
  it.each(cases)('200 for %j', async (fields, expected) => {
    const objs = await query(await seeded(), fields)
    expect(objs.map((found) => `${found['object_id']}:${found['version_index']}`)).toEqual(expected)
  })

  it('200 with values, sizes, tags and aliases as requested', async () => {
    const project = server.newProject()
    await create(project, 'o', { v: 1 })
    expect(await query(project)).toMatchObject([
      { val: { v: 1 }, size_bytes: null, tags: null, aliases: null },
    ])
    const asked = { metadata_only: true, include_storage_size: true, include_tags_and_aliases: true }
    expect(await query(project, asked)).toMatchObject([
      { val: {}, size_bytes: 7, tags: [], aliases: ['latest'] },
    ])
  })

  it('200 without the objects of other projects', async () => {
    await seeded()
    expect(await query(server.newProject())).toEqual([])
  })

  it.each([{ limit: -1 }, { offset: -1 }])('400 for %j', async (fields) => {
    const response = await server.post('/objs/query', { project_id: server.newProject(), ...fields })
    expect(response.status).toBe(400)
  })
})
