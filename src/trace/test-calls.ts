import { createProjects } from '../accounts/projects.ts'
import { newId } from '../ids.ts'
import { parseKeeping } from '../json/lossless-json.ts'
import { type Fields, replyOf, type TestServer } from '../testing.ts'
import { keepShapeOf } from '../wire/body-shape.ts'
import { CallsCompleteReq } from './calls/messages/write-wire.ts'
import { CALL_ROWS } from './calls/sql/table.ts'
import { createCallWriter } from './calls/write/writer.ts'

/** A call as a client sends it when it has ended, alone in its trace where `fields` do not override that. */
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

/** Writes calls as releases without a limit of levels did; `body` is that of `calls/complete`. */
export async function writeDeepCalls({ stores }: TestServer, projectId: string, body: string): Promise<void> {
  const { traces } = stores
  const recent = { insert: (rows: readonly object[]) => traces.insert(CALL_ROWS, rows) }
  const redaction = { of: async () => undefined }
  const writer = createCallWriter({ traces, projects: createProjects(stores), redaction, recent })
  const { batch } = CallsCompleteReq.parse(parseKeeping(body, keepShapeOf(CallsCompleteReq)))
  await writer.record(projectId, batch, 'local')
}
