import { describe, expect, it } from 'vitest'
import { newId } from '../../ids.ts'
import { documentsOf, type Fields, replyOf, useTestServer } from '../../testing.ts'
import { type Item, useQueues } from './test-queues.ts'

const server = useTestServer()
const { newQueue, newCalls, add, items, progress, filledQueue } = useQueues(server)

describe('POST /annotation_queues/{queue_id}/items', () => {
  it('200 with how many were new and how many were there already; unknown calls are passed over', async () => {
    const project = server.newProject()
    const queue = await newQueue(project)
    const [a = '', b = '', c = ''] = await newCalls(project, 3)
    const [elsewhere = ''] = await newCalls(server.newProject(), 1)
    const first = await add(project, queue, [b, a, b, newId(), elsewhere, 'nope'])
    expect(await replyOf(first)).toEqual({ added_count: 2, duplicates: 0 })
    expect(await replyOf(await add(project, queue, [a, c]))).toEqual({ added_count: 1, duplicates: 1 })
    expect(await replyOf(await add(project, queue, [a, b, c]))).toEqual({ added_count: 0, duplicates: 3 })
    expect(await replyOf(await add(project, queue, []))).toEqual({ added_count: 0, duplicates: 0 })
    expect((await items(project, queue)).map(({ call_id }) => call_id)).toEqual([b, a, c])
    expect(await replyOf(await add(project, await newQueue(project), [a]))).toEqual({
      added_count: 1,
      duplicates: 0,
    })
  })

  it('200 for thousands of calls at once; after an end in the middle the same request adds the rest', async () => {
    const project = server.newProject()
    const queue = await newQueue(project)
    const calls = await newCalls(project, 10_000)
    const half = calls.slice(0, 4321)
    expect(await replyOf(await add(project, queue, half))).toEqual({ added_count: 4321, duplicates: 0 })
    const [once, again] = await Promise.all([add(project, queue, calls), add(project, queue, calls)])
    const [one, other] = [await replyOf(once), await replyOf(again)]
    expect(Number(one['added_count']) + Number(other['added_count'])).toBe(5679)
    expect(Number(one['duplicates']) + Number(other['duplicates'])).toBe(20_000 - 5679)
    expect((await items(project, queue)).map(({ call_id }) => call_id).sort()).toEqual(calls.toSorted())
  })

  it('200 for calls that are in the calls table of the queue but not among its items, as after a crash', async () => {
    const project = server.newProject()
    const queue = await newQueue(project)
    const calls = await newCalls(project, 2)
    const rows = calls.map((call_id) => ({ project_id: project, queue_id: queue, call_id }))
    await server.stores.traces.insert('annotation_queue_calls', rows)
    expect(await replyOf(await add(project, queue, calls))).toEqual({ added_count: 2, duplicates: 0 })
    expect(await callsIn(project, queue)).toHaveLength(2)
  })

  it('404 for a queue that is unknown, deleted or of another project', async () => {
    const { project, queue, calls } = await filledQueue(1)
    expect((await add(project, newId(), calls)).status).toBe(404)
    expect((await add(server.newProject(), queue, calls)).status).toBe(404)
    await server.request(`/annotation_queues/${queue}?project_id=${project}`, { method: 'DELETE' })
    expect((await add(project, queue, calls)).status).toBe(404)
    expect((await progress(project, { queue, item: newId() }, 'skipped')).status).toBe(404)
    const query = { project_id: project }
    expect((await server.post(`/annotation_queues/${queue}/items/query`, query)).status).toBe(404)
  })

  it.each([
    { call_ids: 'x' },
    { call_ids: [1] },
    { call_ids: undefined },
    { display_fields: undefined },
    { display_fields: Array(33).fill('x') },
    { display_fields: ['x'.repeat(257)] },
  ])('422 for %j', async (fields) => {
    const project = server.newProject()
    expect((await add(project, await newQueue(project), [], fields)).status).toBe(422)
  })
})

describe('POST /annotation_queues/{queue_id}/items/query', () => {
  it('200 with the fields of an item and its call', async () => {
    const project = server.newProject()
    const queue = await newQueue(project)
    const [call] = await newCalls(project, 1)
    const started = { project_id: project, id: newId(), trace_id: newId(), op_name: 'running' }
    await server.post('/call/start', {
      start: { ...started, started_at: '2026-01-03T00:00:00Z', attributes: {}, inputs: {} },
    })
    await add(project, queue, [String(call), started.id])
    const [item, running] = await items(project, queue)
    expect(item).toEqual({
      id: expect.any(String),
      project_id: project,
      queue_id: queue,
      call_id: call,
      call_started_at: '2026-01-01T00:00:00.000000Z',
      call_ended_at: '2026-01-02T00:00:00.000000Z',
      call_op_name: 'op',
      call_trace_id: expect.any(String),
      display_fields: ['inputs.x'],
      added_by: 'local',
      annotation_state: 'unstarted',
      annotator_user_id: null,
      created_at: expect.any(String),
      created_by: 'local',
      updated_at: item?.['created_at'],
      deleted_at: null,
      position_in_queue: null,
    })
    expect(running).toMatchObject({ call_id: started.id, call_ended_at: null, call_op_name: 'running' })
  })

  it('200 with the requested items, in order, and their positions', async () => {
    const { project, queue, calls, all } = await filledQueue(5)
    const [first, second, third] = all
    const late = await newCalls(project, 1, { op_name: 'a', started_at: '2025-01-01T00:00:00Z' })
    await add(project, queue, late)
    await progress(project, { queue, item: String(second?.id) }, 'completed')
    await progress(project, { queue, item: String(third?.id) }, 'in_progress')
    const ids = async (fields: Fields) =>
      (await items(project, queue, fields)).map(({ call_id }) => [...calls, ...late].indexOf(call_id))
    const by = (field: string, direction: string) => ({ sort_by: [{ field, direction }] })
    expect(await ids({})).toEqual([0, 1, 2, 3, 4, 5])
    expect(await ids({ limit: 2, offset: 1 })).toEqual([1, 2])
    expect(await ids({ limit: 0 })).toEqual([])
    expect(await ids(by('call_started_at', 'desc'))).toEqual([4, 3, 2, 1, 0, 5])
    expect(await ids(by('call_op_name', 'asc'))).toEqual([5, 0, 1, 2, 3, 4])
    expect(await ids(by('created_at', 'desc'))).toEqual([5, 4, 3, 2, 1, 0])
    expect(await ids({ ...by('updated_at', 'desc'), limit: 2 })).toEqual([2, 1])
    expect(await ids(by('nope', 'desc'))).toEqual([0, 1, 2, 3, 4, 5])
    const states = (...annotation_states: string[]) => ids({ filter: { annotation_states } })
    expect(await states('unstarted')).toEqual([0, 3, 4, 5])
    expect(await states('completed', 'in_progress')).toEqual([1, 2])
    expect(await states('skipped')).toEqual([])
    expect(await states()).toEqual([0, 1, 2, 3, 4, 5])
    expect(await ids({ filter: { id: first?.id } })).toEqual([0])
    expect(await ids({ filter: { call_id: calls[3] } })).toEqual([3])
    expect(await ids({ filter: { call_op_name: 'a', call_id: null } })).toEqual([5])
    expect(await ids({ filter: { call_trace_id: first?.['call_trace_id'] } })).toEqual([0])
    expect(await ids({ filter: { added_by: 'local' } })).toHaveLength(6)
    expect(await ids({ filter: { added_by: 'nobody' } })).toEqual([])
    const placed = await items(project, queue, {
      include_position: true,
      filter: { annotation_states: ['unstarted'] },
      ...by('created_at', 'desc'),
      limit: 2,
      offset: 1,
    })
    expect(placed.map((item) => item['position_in_queue'])).toEqual([2, 3])
  })

  it('413 for more items than a reply holds, and 200 for each page of them', async () => {
    const { project, queue } = await filledQueue(0)
    const row = (index: number) => ({
      id: newId(),
      queue_id: queue,
      call_id: String(index),
      call_started_at: '2026-01-01T00:00:00.000000Z',
      call_op_name: 'op',
      call_trace_id: '',
      display_fields: '[]',
      added_by: 'local',
      created_at: '2026-01-01T00:00:00.000000Z',
      updated_at: '2026-01-01T00:00:00.000000Z',
    })
    for (let start = 0; start < 21_000; start += 1000)
      await server.stores.control
        .insertInto('annotation_queue_items')
        .values(Array.from({ length: 1000 }, (_, index) => row(start + index)))
        .execute()
    const path = `/annotation_queues/${queue}/items/query`
    const whole = await server.post(path, { project_id: project })
    expect(whole.status).toBe(413)
    expect(await whole.json()).toEqual({ reason: expect.stringContaining('limit and offset') })
    expect(await items(project, queue, { limit: 1500, offset: 20_000 })).toHaveLength(1000)
  })

  it('404 for an unknown queue, and for that of another project', async () => {
    const { queue } = await filledQueue(1)
    for (const id of [queue, newId()]) {
      const body = { project_id: server.newProject() }
      expect((await server.post(`/annotation_queues/${id}/items/query`, body)).status).toBe(404)
    }
  })

  it.each([{ limit: -1 }, { offset: -1 }])('400 for %j', async (fields) => {
    const { project, queue } = await filledQueue(0)
    const body = { project_id: project, ...fields }
    expect((await server.post(`/annotation_queues/${queue}/items/query`, body)).status).toBe(400)
  })

  it.each([
    { filter: { annotation_states: ['done'] } },
    { filter: { call_id: 1 } },
    { include_position: 'x' },
    { sort_by: 'created_at' },
  ])('422 for %j', async (fields) => {
    const { project, queue } = await filledQueue(0)
    const body = { project_id: project, ...fields }
    expect((await server.post(`/annotation_queues/${queue}/items/query`, body)).status).toBe(422)
  })
})

/** The ids of the calls that a query finds by their queue. */
async function callsIn(project_id: string, queue: string, fields: Fields = {}): Promise<string[]> {
  const isIn = { $eq: [{ $getField: 'annotation_queue_items.queue_id' }, { $literal: queue }] }
  const body = { project_id, query: { $expr: isIn }, ...fields }
  const calls = await documentsOf<Item>(await server.post('/calls/stream_query', body))
  return calls.map(({ id }) => id)
}

describe('calls of a queue', () => {
  it('are found by it, counted, and left out by its opposite', async () => {
    const { project, queue, calls } = await filledQueue(3)
    const others = await newCalls(project, 2)
    const second = await newQueue(project)
    await add(project, second, [...calls.slice(0, 1), ...others.slice(0, 1)])
    expect(await callsIn(project, queue)).toEqual(calls)
    expect(await callsIn(project, second)).toHaveLength(2)
    expect(await callsIn(project, newId())).toEqual([])
    expect(await callsIn(server.newProject(), queue)).toEqual([])
    const field = { $getField: 'annotation_queue_items.queue_id' }
    const count = async ($expr: Fields) =>
      replyOf(await server.post('/calls/query_stats', { project_id: project, query: { $expr } }))
    const isIn = { $in: [field, [{ $literal: queue }, { $literal: second }]] }
    expect(await count(isIn)).toMatchObject({ count: 4 })
    expect(await count({ $not: [isIn] })).toMatchObject({ count: 1 })
    const sort_by = [{ field: field.$getField, direction: 'asc' }]
    expect(await callsIn(project, queue, { sort_by })).toHaveLength(3)
  })

  it('are not found by a queue that was deleted', async () => {
    const { project, queue, calls } = await filledQueue(2)
    const second = await newQueue(project)
    await add(project, second, calls)
    await server.request(`/annotation_queues/${queue}?project_id=${encodeURIComponent(project)}`, {
      method: 'DELETE',
    })
    expect(await callsIn(project, queue)).toEqual([])
    expect(await callsIn(project, second)).toEqual(calls)
  })

  it('403 for another field of queues', async () => {
    const $expr = { $eq: [{ $getField: 'annotation_queue_items.id' }, { $literal: 'x' }] }
    const body = { project_id: server.newProject(), query: { $expr } }
    expect((await server.post('/calls/stream_query', body)).status).toBe(403)
  })
})

describe('a call whose names have U+0000', () => {
  it('200 is added with the others', async () => {
    const project = server.newProject()
    const queue = await newQueue(project)
    const odd = await newCalls(project, 1, { op_name: 'a\u0000b' })
    const calls = [...(await newCalls(project, 1)), ...odd]
    expect(await replyOf(await add(project, queue, calls))).toEqual({ added_count: 2, duplicates: 0 })
    expect((await items(project, queue)).map((item) => item['call_op_name'])).toContain('a\ufffdb')
  })
})

describe('feedback from a queue', () => {
  it('200 for a queue of the project, by which it is found', async () => {
    const { project, queue, calls } = await filledQueue(1)
    const feedback = (queue_id: string, project_id = project) => ({
      project_id,
      weave_ref: `weave:///${project_id}/call/${calls[0]}`,
      feedback_type: 'wandb.note.1',
      payload: { note: 'good' },
      queue_id,
    })
    const { id } = await replyOf(await server.post('/feedback/create', feedback(queue)))
    const $expr = { $eq: [{ $getField: 'queue_id' }, { $literal: queue }] }
    const found = await server.post('/feedback/query', {
      project_id: project,
      fields: ['id', 'queue_id'],
      query: { $expr },
    })
    expect(await replyOf(found)).toMatchObject({ result: [{ id, queue_id: queue }], total_count: 1 })
    expect((await server.post('/feedback/create', feedback(queue, server.newProject()))).status).toBe(400)
    await server.request(`/annotation_queues/${queue}?project_id=${project}`, { method: 'DELETE' })
    const batch = { batch: [feedback(queue)] }
    expect((await server.post('/feedback/create', feedback(queue))).status).toBe(400)
    expect((await server.post('/feedback/batch/create', batch)).status).toBe(422)
  })
})
