import { type Fields, replyOf, type TestServer } from '../../testing.ts'
import { finishedCall, writeCalls } from '../test-calls.ts'

export interface Item extends Fields {
  id: string
  call_id: string
}

/** Two people's keys. */
const KEYS = { mine: 'Bearer test-key', theirs: 'Basic YXBpOnRoZWly' }

/** Helpers for tests of annotation queues. */
export function useQueues(server: TestServer) {
  async function newQueue(project_id: string): Promise<string> {
    const body = { project_id, name: 'queue', scorer_refs: [] }
    return (await replyOf<{ id: string }>(await server.post('/annotation_queues', body))).id
  }

  /** Writes calls of one op that started one after the other; returns their ids. */
  async function newCalls(project: string, count: number, fields: Fields = {}): Promise<string[]> {
    const batch = Array.from({ length: count }, (_, index) =>
      finishedCall({
        started_at: new Date(Date.UTC(2026, 0, 1) + index * 1000).toISOString(),
        ended_at: '2026-01-02T00:00:00Z',
        ...fields,
      }),
    )
    await writeCalls(server, project, batch)
    return batch.map(({ id }) => id)
  }

  function add(project_id: string, queue: string, call_ids: readonly string[], fields: Fields = {}) {
    const body = { project_id, call_ids, display_fields: ['inputs.x'], ...fields }
    return server.post(`/annotation_queues/${queue}/items`, body)
  }

  async function items(project_id: string, queue: string, fields: Fields = {}): Promise<Item[]> {
    const response = await server.post(`/annotation_queues/${queue}/items/query`, { project_id, ...fields })
    return (await replyOf<{ items: Item[] }>(response)).items
  }

  function progress(
    project_id: string,
    { queue, item, key = 'mine' }: { queue: string; item: string; key?: keyof typeof KEYS },
    annotation_state: unknown,
  ): Promise<Response> {
    return server.request(`/annotation_queues/${queue}/items/${item}/progress`, {
      method: 'POST',
      headers: { authorization: KEYS[key] },
      body: JSON.stringify({ project_id, annotation_state }),
    })
  }

  /** A project with a queue of some calls, and its items. */
  async function filledQueue(count: number) {
    const project = server.newProject()
    const queue = await newQueue(project)
    const calls = await newCalls(project, count)
    await add(project, queue, calls)
    return { project, queue, calls, all: await items(project, queue) }
  }

  /** Lets every claim run out. */
  async function passTime(queue: string): Promise<void> {
    await server.stores.control
      .updateTable('annotation_queue_items')
      .set({ claimed_until: '2026-01-01T00:00:00.000000Z' })
      .where('queue_id', '=', queue)
      .where('claimed_until', 'is not', null)
      .execute()
  }

  return { newQueue, newCalls, add, items, progress, filledQueue, passTime }
}
