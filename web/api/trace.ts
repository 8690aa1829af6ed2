import { type ByModel, type CallStatus, costsByModel, factsOf, tokensByModel } from './call-facts.ts'
import { type Call, streamCalls } from './calls.ts'

/** A call without its payloads, as a tree of thousands shows it. */
export interface TraceCall {
  id: string
  parentId: string | null
  name: string
  status: CallStatus
  /** Milliseconds since 1970; null while it runs. */
  startedMs: number
  endedMs: number | null
  /** As the call reports them: weave's clients have added what is below, OpenTelemetry's have not. */
  tokens: ByModel
}

interface Options {
  signal: AbortSignal
}

/** The trace of a call; null when there is no such call. */
export async function readTraceId(project: string, id: string, { signal }: Options): Promise<string | null> {
  const request = { filter: { call_ids: [id] }, columns: ['id'], limit: 1 }
  for await (const { trace_id } of streamCalls(project, request, { signal })) return trace_id
  return null
}

/** `parent_id` says where a call belongs; names, times and the summary are what its row shows. */
const COLUMNS = ['id', 'parent_id', 'op_name', 'display_name', 'started_at', 'ended_at', 'summary']

/** All calls of a trace as they arrive, by their start. */
export async function* streamTrace(
  project: string,
  traceId: string,
  { signal }: Options,
): AsyncGenerator<TraceCall> {
  const request = { filter: { trace_ids: [traceId] }, columns: COLUMNS }
  for await (const call of streamCalls(project, request, { signal })) yield traceCallOf(call)
}

function traceCallOf(call: Call): TraceCall {
  const { name, status, startedMs, endedMs } = factsOf(call)
  const tokens = tokensByModel(call)
  return { id: call.id, parentId: call.parent_id, name, status, startedMs, endedMs, tokens }
}

/**
 * US dollars by the ids of the calls that have a price. The server looks each price up, so the tree does not wait for
 * it.
 */
export async function readCosts(
  project: string,
  traceId: string,
  { signal }: Options,
): Promise<ReadonlyMap<string, ByModel>> {
  const request = { filter: { trace_ids: [traceId] }, columns: ['id', 'summary'], include_costs: true }
  const costs = new Map<string, ByModel>()
  for await (const call of streamCalls(project, request, { signal })) {
    const byModel = costsByModel(call)
    if (byModel.size > 0) costs.set(call.id, byModel)
  }
  return costs
}
