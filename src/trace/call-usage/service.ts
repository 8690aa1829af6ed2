import { z } from 'zod'
import type { CallContext } from '../../http/caller.ts'
import { isRecord } from '../../json/is-record.ts'
import { memberText } from '../../json/lossless-json.ts'
import { forEachYielding, yielding } from '../../yielding.ts'
import type { Calls } from '../calls/service.ts'
import { usageIn } from '../costs/usage-costs.ts'
import { createUsageBudget, type UsedCall, withDescendants } from './descendants.ts'
import type * as wire from './wire.ts'

type Selection = Omit<wire.TraceUsageReq, 'limit'> & { limit?: number }

/** The model usage of calls, with that of all calls below them. */
export interface CallUsage {
  ofSelection(req: wire.TraceUsageReq, context: CallContext): Promise<wire.UsageRes>
  /** Wire: whole traces are read, so unfinished calls are those of the traces; an unknown call used nothing. */
  ofCalls(req: wire.CallsUsageReq, context: CallContext): Promise<wire.UsageRes>
}

export function createCallUsage({ calls }: { calls: Pick<Calls, 'list'> }): CallUsage {
  /** The selected calls' usage with that of their descendants among them. @throws 413 for more than a reply can hold */
  async function usageOf(selection: Selection, context: CallContext) {
    const found: UsedCall[] = []
    const unfinished: string[] = []
    const onUsage = createUsageBudget()
    const selected = await calls.list({ ...selection, columns: ['summary'] }, context)
    for await (const call of yielding(selected)) {
      const { id, parent_id, summary } = call
      const usage = usageByModel(summary.text, selection.include_costs === true)
      for (const model of usage.keys()) onUsage(model)
      found.push({ id, parent_id, usage })
      if (call.ended_at === null) unfinished.push(id)
    }
    return { usage: await withDescendants(found, onUsage), unfinished: unfinished.sort() }
  }

  /** The traces of the given calls. */
  async function tracesOf(
    projectId: string,
    ids: readonly string[],
    context: CallContext,
  ): Promise<string[]> {
    const req = { project_id: projectId, filter: { call_ids: [...ids] }, columns: ['trace_id'] }
    const traceIds = new Set<string>()
    for await (const call of await calls.list(req, context)) traceIds.add(call.trace_id)
    return [...traceIds]
  }

  return {
    async ofSelection(req, context) {
      const { usage, unfinished } = await usageOf(req, context)
      return { call_usage: await replyOf(usage.keys(), usage), unfinished_call_ids: unfinished }
    },

    async ofCalls(req, context) {
      const { call_ids, ...common } = req
      const trace_ids = call_ids.length === 0 ? [] : await tracesOf(req.project_id, call_ids, context)
      if (trace_ids.length === 0)
        return { call_usage: await replyOf(call_ids, new Map()), unfinished_call_ids: [] }
      const { usage, unfinished } = await usageOf({ ...common, filter: { trace_ids } }, context)
      return { call_usage: await replyOf(call_ids, usage), unfinished_call_ids: unfinished }
    },
  }
}

async function replyOf(
  ids: Iterable<string>,
  usage: ReadonlyMap<string, ReadonlyMap<string, wire.ModelUsage>>,
): Promise<wire.UsageRes['call_usage']> {
  const shown: [string, Record<string, wire.ModelUsage>][] = []
  await forEachYielding(ids, (id) => shown.push([id, Object.fromEntries(usage.get(id) ?? [])]))
  return Object.fromEntries(shown)
}

const NO_COSTS = {
  prompt_tokens_total_cost: 0,
  completion_tokens_total_cost: 0,
  cache_read_input_tokens_total_cost: 0,
  cache_creation_input_tokens_total_cost: 0,
}
/** A client's own value here has no price with a date. */
const ModelCosts = z
  .object({
    effective_date: z.string(),
    prompt_tokens_total_cost: z.number(),
    completion_tokens_total_cost: z.number(),
    cache_read_input_tokens_total_cost: z.number(),
    cache_creation_input_tokens_total_cost: z.number(),
  })
  .transform(({ effective_date: _, ...costs }) => costs)
  .catch(NO_COSTS)
const UNTOLD_COSTS = {
  prompt_tokens_total_cost: null,
  completion_tokens_total_cost: null,
  cache_read_input_tokens_total_cost: null,
  cache_creation_input_tokens_total_cost: null,
}

/** Wire: models of which nothing was used are left out, and a missing total is the sum of input and output. */
function usageByModel(summary: string, includeCosts: boolean): Map<string, wire.ModelUsage> {
  const costs = includeCosts ? costsIn(summary) : undefined
  const all = [...usageIn(summary)].map(([model, counts]): [string, wire.ModelUsage] => {
    const prompt_tokens = Math.trunc(counts.prompt_tokens + counts.input_tokens)
    const completion_tokens = Math.trunc(counts.completion_tokens + counts.output_tokens)
    const usage = {
      requests: Math.trunc(counts.requests),
      prompt_tokens,
      completion_tokens,
      total_tokens: Math.trunc(counts.total_tokens) || prompt_tokens + completion_tokens,
      cache_read_input_tokens: Math.trunc(counts.cache_read_input_tokens),
      cache_creation_input_tokens: Math.trunc(counts.cache_creation_input_tokens),
    }
    return [model, { ...usage, ...(costs ? ModelCosts.parse(costs[model]) : UNTOLD_COSTS) }]
  })
  return new Map(all.filter(([, usage]) => Object.values(usage).some(Boolean)))
}

/** The costs that reading the call added to its summary. */
function costsIn(summary: string): Record<string, unknown> {
  const weave = memberText(summary, 'weave')
  const costs: unknown = JSON.parse((weave === undefined ? undefined : memberText(weave, 'costs')) ?? 'null')
  return isRecord(costs) ? costs : {}
}
