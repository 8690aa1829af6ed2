import { expect, it } from 'vitest'
import { createMutations } from '../../stores/trace-db/mutations.ts'
import { rowsOf } from '../../stores/trace-db/port.ts'
import { replyOf, useTestServer } from '../../testing.ts'
import { LATER } from '../../time.ts'
import { createQueuesRemoval } from './removal.ts'
import { useQueues } from './test-queues.ts'

const server = useTestServer()
const { filledQueue } = useQueues(server)

const { signal } = new AbortController()

/** How many rows of a queue each database has. */
async function rowsOfQueue(queue: string) {
  const { control, traces } = server.stores
  const items = await control
    .selectFrom('annotation_queue_items')
    .select('id')
    .where('queue_id', '=', queue)
    .execute()
  const queues = await control.selectFrom('annotation_queues').select('id').where('id', '=', queue).execute()
  const sql = 'SELECT call_id FROM annotation_queue_calls WHERE queue_id = {queue:String}'
  const calls = await rowsOf(traces.query<{ call_id: string }>({ sql, params: { queue } }))
  return { queues: queues.length, items: items.length, calls: calls.length }
}

it('removes queues that were deleted before a time from both databases, and no others', async () => {
  const [kept, gone] = [await filledQueue(2), await filledQueue(2)]
  const path = `/annotation_queues/${gone.queue}?project_id=${gone.project}`
  await replyOf(await server.request(path, { method: 'DELETE' }))
  const removal = createQueuesRemoval({ ...server.stores, mutations: createMutations(server.stores.traces) })
  await removal.purge?.('2020-01-01T00:00:00Z', signal)
  expect(await rowsOfQueue(gone.queue)).toEqual({ queues: 1, items: 2, calls: 3 })
  await removal.purge?.(LATER, signal)
  expect(await rowsOfQueue(gone.queue)).toEqual({ queues: 0, items: 0, calls: 0 })
  expect(await rowsOfQueue(kept.queue)).toEqual({ queues: 1, items: 2, calls: 2 })
})
