import { newId } from '../ids.ts'
import { type Fields, replyOf, type TestServer } from '../testing.ts'

/** A call as a client sends it when it has ended, alone in its trace unless `fields` say otherwise. */
export function finishedCall(fields: Fields = {}): Fields & { id: string } {
  return {
    id: newId(),
    trace_id: newId(),
    op_name: 'op',
    started_at: '2026-01-01T00:00:00Z',
    ended_at: '2026-01-01T00:00:01Z',
    attributes: {},
    inputs: {},
    output: null,
    summary: {},
    ...fields,
  }
}

export async function writeCalls(
  server: TestServer,
  project: string,
  batch: readonly Fields[],
): Promise<void> {
  await replyOf(await server.post(`/v2/${project}/calls/complete`, { batch }))
}
