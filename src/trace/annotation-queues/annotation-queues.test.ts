import { describe, expect, it } from 'vitest'
import { newId } from '../../ids.ts'
import { documentsOf, type Fields, useTestServer } from '../../testing.ts'

const server = useTestServer()

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)

async function create(project_id: string, fields: Fields = {}): Promise<string> {
  const body = { project_id, name: 'queue', scorer_refs: [], ...fields }
  const response = await server.post('/annotation_queues', body)
  const { id } = await replyOf<{ id: string }>(response)
  return id
}

async function replyOf<Reply = Fields>(response: Response): Promise<Reply> {
  const text = await response.text()
  expect(response.status, text).toBe(200)
  return JSON.parse(text) as Reply
}

function send(method: 'PUT' | 'DELETE', path: string, body?: Fields): Promise<Response> {
  return server.request(path, { method, ...(body && { body: JSON.stringify(body) }) })
}

async function read(project: string, id: string): Promise<Fields> {
  const { queue } = await replyOf<{ queue: Fields }>(
    await server.request(`/annotation_queues/${id}?project_id=${project}`),
  )
  return queue
}

describe('POST /annotation_queues', () => {
  it('200 with a new id each time', async () => {
    const project = server.newProject()
    const [first, second] = [await create(project), await create(project)]
    expect(first).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/)
    expect(second).not.toBe(first)
  })

  it.each([
    { name: 1 },
    { name: 'x'.repeat(1025) },
    { scorer_refs: 'weave:///a/b/object/c:d' },
    { scorer_refs: [1] },
    { scorer_refs: Array(257).fill('x') },
    { scorer_refs: undefined },
    { description: null },
    { description: 'x'.repeat(65_537) },
  ])('422 for %j', async (fields) => {
    const body = { project_id: server.newProject(), name: 'queue', scorer_refs: [], ...fields }
    expect((await server.post('/annotation_queues', body)).status).toBe(422)
  })

  it('400 for a project without an entity', async () => {
    const body = { project_id: 'alone', name: 'queue', scorer_refs: [] }
    expect((await server.post('/annotation_queues', body)).status).toBe(400)
  })
})

describe('GET /annotation_queues/{queue_id}', () => {
  it('200 with all that is known', async () => {
    const project = server.newProject()
    const fields = { name: 'Errors – ü', description: 'why?', scorer_refs: ['weave:///a/b/object/c:d'] }
    const id = await create(project, fields)
    const queue = await read(project, id)
    expect(queue).toEqual({
      ...fields,
      id,
      project_id: project,
      created_at: TIME,
      created_by: 'local',
      updated_at: queue['created_at'],
      deleted_at: null,
    })
  })

  it('404 for an unknown one, and for that of another project', async () => {
    const id = await create(server.newProject())
    for (const path of [
      `${id}?project_id=${server.newProject()}`,
      `nope?project_id=${server.newProject()}`,
    ]) {
      const response = await server.request(`/annotation_queues/${path}`)
      expect(response.status).toBe(404)
      expect(await response.json()).toEqual({ reason: expect.stringContaining('not found') })
    }
  })

  it('422 without a project', async () => {
    expect((await server.request(`/annotation_queues/${newId()}`)).status).toBe(422)
  })
})

describe('PUT /annotation_queues/{queue_id}', () => {
  it('200 with the given fields changed and the others unchanged', async () => {
    const project_id = server.newProject()
    const id = await create(project_id, { description: 'old' })
    const before = await read(project_id, id)
    const renamed = await replyOf(await send('PUT', `/annotation_queues/${id}`, { project_id, name: 'new' }))
    expect(renamed).toEqual({ queue: { ...before, name: 'new', updated_at: TIME } })
    const changes = { description: '', scorer_refs: ['a'], name: null }
    const changed = await replyOf(await send('PUT', `/annotation_queues/${id}`, { project_id, ...changes }))
    expect(changed).toMatchObject({ queue: { name: 'new', description: '', scorer_refs: ['a'] } })
    expect((await read(project_id, id))['updated_at']).not.toBe(before['updated_at'])
    expect(await names({ project_id, name: 'NEW' })).toEqual(['new'])
  })

  it('200 without a change where no field is given', async () => {
    const project_id = server.newProject()
    const id = await create(project_id)
    const queue = await read(project_id, id)
    expect(await replyOf(await send('PUT', `/annotation_queues/${id}`, { project_id }))).toEqual({ queue })
  })

  it('404 for an unknown one, that of another project, and a deleted one', async () => {
    const project_id = server.newProject()
    const id = await create(project_id)
    const put = (queue: string, project: string) =>
      send('PUT', `/annotation_queues/${queue}`, { project_id: project, name: 'x' })
    expect((await put(newId(), project_id)).status).toBe(404)
    expect((await put(id, server.newProject())).status).toBe(404)
    await send('DELETE', `/annotation_queues/${id}?project_id=${project_id}`)
    expect((await put(id, project_id)).status).toBe(404)
  })

  it('422 for wrong types', async () => {
    const body = { project_id: server.newProject(), scorer_refs: 'x' }
    expect((await send('PUT', `/annotation_queues/${newId()}`, body)).status).toBe(422)
  })
})

describe('DELETE /annotation_queues/{queue_id}', () => {
  it('200 with when it was deleted, and 404 from then on', async () => {
    const project = server.newProject()
    const id = await create(project)
    const path = `/annotation_queues/${id}?project_id=${project}`
    expect((await send('DELETE', `/annotation_queues/${id}?project_id=${server.newProject()}`)).status).toBe(
      404,
    )
    const { queue } = await replyOf<{ queue: Fields }>(await send('DELETE', path))
    expect(queue).toMatchObject({ id, deleted_at: TIME, updated_at: queue['deleted_at'] })
    expect((await send('DELETE', path)).status).toBe(404)
    expect((await server.request(path)).status).toBe(404)
    expect(await names({ project_id: project })).toEqual([])
  })
})

async function names(fields: Fields): Promise<unknown[]> {
  const queues = await documentsOf<Fields>(await server.post('/annotation_queues/query', fields))
  return queues.map(({ name }) => name)
}

describe('POST /annotation_queues/query', () => {
  it('200 with the requested queues, in order', async () => {
    const project_id = server.newProject()
    for (const name of ['Beta', 'alpha', 'ÄRGER']) await create(project_id, { name })
    await create(server.newProject(), { name: 'elsewhere' })
    const sorted = (field: string, direction: string) =>
      names({ project_id, sort_by: [{ field, direction }] })
    expect(await names({ project_id })).toEqual(['ÄRGER', 'alpha', 'Beta'])
    expect(await names({ project_id, name: 'LPH' })).toEqual(['alpha'])
    expect(await names({ project_id, name: 'ärg' })).toEqual(['ÄRGER'])
    expect(await names({ project_id, name: '%' })).toEqual([])
    expect(await names({ project_id, limit: 1, offset: 1 })).toEqual(['alpha'])
    expect(await names({ project_id, limit: 0 })).toEqual([])
    expect(await sorted('name', 'asc')).toEqual(['Beta', 'alpha', 'ÄRGER'])
    expect(await sorted('created_at', 'asc')).toEqual(['Beta', 'alpha', 'ÄRGER'])
    expect(await sorted('id', 'desc')).toEqual(['ÄRGER', 'alpha', 'Beta'])
    expect(await sorted('description; drop', 'asc')).toEqual(['ÄRGER', 'alpha', 'Beta'])
  })

  it('200 with more queues than are read at once', async () => {
    const project_id = server.newProject()
    const wanted = Array.from({ length: 120 }, (_, index) => `queue ${index}`)
    for (const name of wanted) await create(project_id, { name })
    expect(await names({ project_id, sort_by: [{ field: 'created_at', direction: 'asc' }] })).toEqual(wanted)
  })

  it.each([{ limit: -1 }, { offset: -1 }])('400 for %j', async (fields) => {
    const body = { project_id: server.newProject(), ...fields }
    expect((await server.post('/annotation_queues/query', body)).status).toBe(400)
  })

  it.each([{ name: 1 }, { limit: 'x' }, { sort_by: [{ field: 'name', direction: 'up' }] }])(
    '422 for %j',
    async (fields) => {
      const body = { project_id: server.newProject(), ...fields }
      expect((await server.post('/annotation_queues/query', body)).status).toBe(422)
    },
  )
})

describe('POST /annotation_queues/stats', () => {
  it('200 without items for queues that do not exist', async () => {
    const project_id = server.newProject()
    const [unknown, empty] = [newId(), await create(project_id)]
    const reply = await server.post('/annotation_queues/stats', { project_id, queue_ids: [unknown, empty] })
    const nothing = { total_items: 0, completed_items: 0 }
    expect(await replyOf(reply)).toEqual({
      stats: [
        { queue_id: unknown, ...nothing },
        { queue_id: empty, ...nothing },
      ],
    })
    const none = await server.post('/annotation_queues/stats', { project_id, queue_ids: [] })
    expect(await replyOf(none)).toEqual({ stats: [] })
  })

  it.each([{ queue_ids: 'x' }, { queue_ids: Array(1001).fill('x') }, {}])('422 for %j', async (fields) => {
    const body = { project_id: server.newProject(), ...fields }
    expect((await server.post('/annotation_queues/stats', body)).status).toBe(422)
  })
})
