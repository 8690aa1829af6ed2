import { describe, expect, it, vi } from 'vitest'
import { type Fields, replyOf, useTestServer } from '../../testing.ts'

const server = useTestServer()

async function ok(response: Promise<Response>): Promise<Fields> {
  return replyOf(await response)
}

async function publish(project_id: string, object_id: string, ...vals: unknown[]): Promise<string[]> {
  const digests: string[] = []
  for (const val of vals) {
    const { digest } = await ok(server.post('/obj/create', { obj: { project_id, object_id, val } }))
    digests.push(String(digest))
  }
  return digests
}

function put(path: string, body: unknown): Promise<Response> {
  return server.request(path, { method: 'PUT', body: JSON.stringify(body) })
}

const tag = (project_id: string, digest: string, ...tags: string[]) =>
  put(`/objs/o/versions/${digest}/tags`, { project_id, tags })
const untag = (project_id: string, digest: string, ...tags: string[]) =>
  server.post(`/objs/o/versions/${digest}/tags/remove`, { project_id, tags })
const alias = (project_id: string, digest: string, ...aliases: string[]) =>
  put('/objs/o/aliases', { project_id, digest, aliases })
const unalias = (project_id: string, ...aliases: string[]) =>
  server.post('/objs/o/aliases/remove', { project_id, aliases })
const read = (project_id: string, digest: string) =>
  server.post('/obj/read', { project_id, object_id: 'o', digest })
const listed = async (project_id: string, what: 'tags' | 'aliases') =>
  (await ok(server.request(`/${what}?project_id=${encodeURIComponent(project_id)}`)))[what]

/** Tags and aliases of each version. */
async function labels(project_id: string): Promise<unknown[]> {
  const { objs } = await ok(server.post('/objs/query', { project_id, include_tags_and_aliases: true }))
  return (objs as Fields[]).map(({ tags, aliases }) => [tags, aliases])
}

async function indexes(project_id: string, filter: Fields): Promise<unknown[]> {
  const { objs } = await ok(server.post('/objs/query', { project_id, filter }))
  return (objs as Fields[]).map(({ object_id, version_index }) => `${object_id}:${version_index}`)
}

describe('PUT /objs/{object_id}/versions/{digest}/tags', () => {
  it('200 and the tags are on that version only, sorted and once each', async () => {
    const project = server.newProject()
    const [first = '', second = ''] = await publish(project, 'o', 1, 2)
    expect(await ok(tag(project, first, 'b', 'a', 'b'))).toEqual({})
    await ok(tag(project, first, 'a', 'two words'))
    await ok(tag(project, second))
    expect(await labels(project)).toEqual([
      [['a', 'b', 'two words'], []],
      [[], ['latest']],
    ])
  })

  it('404 for versions that do not exist, and for other names of versions than digests', async () => {
    const project = server.newProject()
    const [first = '', second = ''] = await publish(project, 'o', 1, 2)
    await ok(alias(project, first, 'mine'))
    await ok(server.post('/obj/delete', { project_id: project, object_id: 'o', digests: [second] }))
    for (const digest of [second, 'latest', 'v0', 'mine', 'x'.repeat(43)]) {
      expect((await tag(project, digest, 'a')).status, digest).toBe(404)
      expect((await alias(project, digest, 'a')).status, digest).toBe(404)
    }
    expect((await tag(server.newProject(), first, 'a')).status).toBe(404)
  })

  it.each(['', 'a/b', ' a', 'a  b', 'a\n', 'é!', 'x'.repeat(257)])('422 for the tag %j', async (name) => {
    const project = server.newProject()
    const [digest = ''] = await publish(project, 'o', 1)
    expect((await tag(project, digest, 'fine', name)).status).toBe(422)
    expect(await listed(project, 'tags')).toEqual([])
  })
})

describe('POST /objs/{object_id}/versions/{digest}/tags/remove', () => {
  it('200 whether the tag, the version or the object is there or not', async () => {
    const project = server.newProject()
    const [digest = ''] = await publish(project, 'o', 1)
    await ok(tag(project, digest, 'a', 'b'))
    expect(await ok(untag(project, digest, 'a', 'never', 'not/a/tag'))).toEqual({})
    expect(await ok(untag(project, 'x', 'b'))).toEqual({})
    expect(await labels(project)).toEqual([[['b'], ['latest']]])
    await ok(tag(project, digest, 'a'))
    expect(await labels(project)).toEqual([[['a', 'b'], ['latest']]])
  })
})

describe('PUT /objs/{object_id}/aliases', () => {
  it('200 and the alias names that version wherever a digest does, until it is set again', async () => {
    const project = server.newProject()
    const [first = '', second = ''] = await publish(project, 'o', 1, 2)
    await publish(project, 'other', 1)
    const hashLike = 'a'.repeat(43)
    expect(await ok(alias(project, first, 'prod', 'my model', hashLike))).toEqual({})
    for (const name of ['prod', 'my model', hashLike])
      expect(await ok(read(project, name))).toMatchObject({ obj: { digest: first } })
    const refs = [`weave:///${project}/object/o:prod`]
    expect(await ok(server.post('/refs/read_batch', { refs }))).toEqual({ vals: [1] })

    await ok(alias(project, second, 'prod'))
    expect(await ok(read(project, 'prod'))).toMatchObject({ obj: { digest: second } })
    expect(await labels(project)).toEqual([
      [[], [hashLike, 'my model']],
      [[], ['latest', 'prod']],
      [[], ['latest']],
    ])
  })

  it.each(['', ' ', 'a/b', 'a:b', 'latest', 'v0', 'v12', 'x'.repeat(129)])(
    '422 for the alias %j',
    async (name) => {
      const project = server.newProject()
      const [digest = ''] = await publish(project, 'o', 1)
      expect((await alias(project, digest, name)).status).toBe(422)
      expect((await unalias(project, name)).status).toBe(422)
    },
  )
})

describe('POST /objs/{object_id}/aliases/remove', () => {
  it('200 and the alias names no version any more', async () => {
    const project = server.newProject()
    const [digest = ''] = await publish(project, 'o', 1)
    await ok(alias(project, digest, 'prod', 'kept'))
    expect(await ok(unalias(project, 'prod', 'never'))).toEqual({})
    expect((await read(project, 'prod')).status).toBe(404)
    expect(await listed(project, 'aliases')).toEqual(['kept'])
  })
})

describe('POST /objs/query', () => {
  it('200 with the versions that have any of the tags, or any of the aliases', async () => {
    const project = server.newProject()
    const [first = '', second = ''] = await publish(project, 'o', 1, 2)
    await publish(project, 'other', 1)
    await ok(tag(project, first, 'a', 'b'))
    await ok(tag(project, second, 'c'))
    await ok(alias(project, first, 'prod'))
    expect(await indexes(project, { tags: ['a', 'b', 'x'] })).toEqual(['o:0'])
    expect(await indexes(project, { tags: ['a', 'c'] })).toEqual(['o:0', 'o:1'])
    expect(await indexes(project, { tags: ['a', 'c'], latest_only: true })).toEqual(['o:1'])
    expect(await indexes(project, { aliases: ['prod', 'x'] })).toEqual(['o:0'])
    expect(await indexes(project, { aliases: ['prod', 'latest'] })).toEqual(['o:0', 'o:1', 'other:0'])
    expect(await indexes(server.newProject(), { tags: ['a'] })).toEqual([])
  })
})

describe('POST /obj/delete', () => {
  it('200 and the labels of the version are removed, also when it is published again', async () => {
    const project = server.newProject()
    const [first = '', second = ''] = await publish(project, 'o', 1, 2)
    await ok(tag(project, first, 'a'))
    await ok(tag(project, second, 'a', 'b'))
    await ok(alias(project, second, 'prod'))
    await ok(server.post('/obj/delete', { project_id: project, object_id: 'o', digests: ['latest'] }))
    expect((await read(project, 'prod')).status).toBe(404)
    await publish(project, 'o', 2)
    expect(await labels(project)).toEqual([
      [['a'], []],
      [[], ['latest']],
    ])
    expect([await listed(project, 'tags'), await listed(project, 'aliases')]).toEqual([['a'], []])
  })
})

describe('POST /obj/delete that fails', () => {
  it('is repeated, and leaves no labels', async () => {
    const project = server.newProject()
    const [only = ''] = await publish(project, 'o', 1)
    await ok(tag(project, only, 'a'))
    const remove = () => server.post('/obj/delete', { project_id: project, object_id: 'o' })
    const { traces } = server.stores
    const insert = vi.spyOn(traces, 'insert').mockRejectedValueOnce(new Error('it fails'))
    expect((await remove()).status).toBe(500)
    insert.mockRestore()
    await ok(remove())
    expect(await listed(project, 'tags')).toEqual([])
  })
})

describe('GET /tags and GET /aliases', () => {
  it('200 with the names in the project, sorted, each once and without latest', async () => {
    const project = server.newProject()
    const [first = '', second = ''] = await publish(project, 'o', 1, 2)
    await ok(tag(project, first, 'b'))
    await ok(tag(project, second, 'b', 'a'))
    await ok(alias(project, first, 'z', 'y'))
    expect([await listed(project, 'tags'), await listed(project, 'aliases')]).toEqual([
      ['a', 'b'],
      ['y', 'z'],
    ])
    expect(await listed(server.newProject(), 'tags')).toEqual([])
  })

  it.each(['/tags', '/aliases'])('422 for %s without a project', async (path) => {
    expect((await server.request(path)).status).toBe(422)
  })
})

describe('labels that were written before the clock of the machine was set back', () => {
  const AHEAD = '2090-01-01T00:00:00.000000Z'

  it('does not hide later changes: a version deleted later, an alias and a tag set later', async () => {
    const project = server.newProject()
    const [first = '', second = ''] = await publish(project, 'o', 1, 2)
    const row = { project_id: project, object_id: 'o', digest: first }
    const { traces } = server.stores
    await traces.insert('objects', [{ ...row, kind: 'object', published_at: AHEAD, deleted_at: AHEAD }])
    expect((await read(project, first)).status).toBe(404)
    await traces.insert('object_aliases', [{ ...row, alias: 'best', changed_at: AHEAD, removed: 0 }])
    await traces.insert('object_tags', [
      { ...row, digest: second, tag: 'old', changed_at: AHEAD, removed: 0 },
    ])

    await publish(project, 'o', 1)
    expect((await read(project, first)).status).toBe(200)
    await ok(alias(project, second, 'best'))
    expect(await ok(read(project, 'best'))).toMatchObject({ obj: { digest: second } })
    await ok(untag(project, second, 'old'))
    expect(await listed(project, 'tags')).toEqual([])
    const [third = ''] = await publish(project, 'o', 3)
    expect(await ok(read(project, 'latest'))).toMatchObject({ obj: { digest: third } })
    await ok(
      server.request(`/obj/delete`, {
        method: 'POST',
        body: JSON.stringify({ project_id: project, object_id: 'o' }),
      }),
    )
    for (const digest of [first, second, third]) expect((await read(project, digest)).status).toBe(404)
  })
})
