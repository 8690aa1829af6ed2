import type { CallField, CallFieldsReq, CallFieldsRes } from '../../src/trace/call-fields/wire.ts'
import type { Call as StoredCall } from '../../src/trace/calls/messages/call-wire.ts'
import type { CallsFilter, CallsStreamQueryReq } from '../../src/trace/calls/messages/list-wire.ts'
import type { Operand, Operation } from '../../src/trace/query-language/wire.ts'
import { ask, askJson, askLines } from './client.ts'
import { projectPath } from './project.ts'
import type { OnWire } from './wire.ts'

export type Call = OnWire<StoredCall>
export type { CallField, CallFieldsRes, CallsFilter, Operand, Operation }

/** Which calls, in which order, with which of their payloads. */
export type CallsRequest = Omit<CallsStreamQueryReq, 'project_id'>

interface Options {
  signal?: AbortSignal | undefined
}

/** Calls of a project, one after another as they come. */
export function streamCalls(
  project_id: string,
  request: CallsRequest,
  { signal }: Options = {},
): AsyncGenerator<Call> {
  return askLines<Call>('/calls/stream_query', { body: { project_id, ...request }, signal })
}

/** How many calls there are. */
export async function countCalls(
  project_id: string,
  { filter, query }: Pick<CallsRequest, 'filter' | 'query'>,
  { signal }: Options = {},
): Promise<number> {
  const body = { project_id, filter, query }
  return (await askJson<{ count: number }>('/calls/query_stats', { body, signal })).count
}

/** Which fields calls have, and the frequent values of each. */
export async function callFields(
  project_id: string,
  request: Partial<Omit<CallFieldsReq, 'project_id'>>,
  { signal }: Options = {},
): Promise<CallFieldsRes> {
  return await askJson('/calls/fields', { body: { project_id, ...request }, signal })
}

/** One call with all its members; null when it does not exist. */
export async function readCall(
  project_id: string,
  id: string,
  { signal }: Options = {},
): Promise<Call | null> {
  const body = { project_id, id, include_costs: true }
  return (await askJson<{ call: Call | null }>('/call/read', { body, signal })).call
}

/** Members of a whole call. */
interface WholeCall {
  /** Sent twice, it is the same call. */
  id: string
  op_name: string
  started_at: string
  ended_at: string
  inputs: object
  output: unknown
  attributes: object
  summary: object
}

/** Writes a call that began and ended in the browser. */
export async function recordCall(project_id: string, call: WholeCall): Promise<void> {
  const body = { batch: [{ ...call, trace_id: call.id }] }
  await ask(projectPath(project_id, 'calls/complete'), { body, isRepeatable: true })
}

/** Deletes calls, at most 1,000 at once, with all below them. */
export async function deleteCalls(
  project_id: string,
  call_ids: readonly string[],
  { signal }: Options = {},
): Promise<void> {
  await ask('/calls/delete', { body: { project_id, call_ids }, signal })
}

export interface StatsBucket {
  timestamp: string
  count: number
  [aggregate: string]: number | string | null
}

interface StatsRequest {
  start: string
  end: string
  /** Seconds. */
  granularity: number
  filter: CallsFilter
  query: CallsRequest['query']
}

/** Calls and errors over time, in equal buckets. */
export async function callBuckets(
  project_id: string,
  request: StatsRequest,
  { signal }: Options = {},
): Promise<{ granularity: number; call_buckets: StatsBucket[] }> {
  const call_metrics = [{ metric: 'call_count' }, { metric: 'error_count' }]
  return await askJson('/calls/stats', { body: { project_id, ...request, call_metrics }, signal })
}
