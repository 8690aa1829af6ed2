import type { CallContext } from '../../../http/caller.ts'
import { JsonText, stringify } from '../../../json/lossless-json.ts'
import { forEachYielding } from '../../../yielding.ts'
import type { Costs } from '../../costs/service.ts'
import { costsOf, usageIn } from '../../costs/usage-costs.ts'
import type { Feedback } from '../../feedback/service.ts'
import type { Call } from '../messages/call-wire.ts'
import type { CallsStreamQueryReq } from '../messages/list-wire.ts'
import type { Expansion } from './expansion.ts'
import type { List } from './list.ts'

/** Wire: the members of a call's feedback that are shown. */
const FEEDBACK_FIELDS = [
  'id',
  'feedback_type',
  'weave_ref',
  'payload',
  'creator',
  'created_at',
  'wb_user_id',
  'runnable_ref',
  'call_ref',
  'trigger_ref',
  'annotation_ref',
]

/** Whether a list shows anything that is not in the rows of its calls. */
export function hasExtras(req: CallsStreamQueryReq): boolean {
  const isExpanded = req.return_expanded_column_values !== false && (req.expand_columns?.length ?? 0) > 0
  return isExpanded || req.include_feedback === true || req.include_costs === true
}

/** Members of calls that are stored elsewhere: values behind refs, feedback, costs. */
export interface Extras {
  /** The calls with the requested members. */
  added(calls: readonly Call[], list: Pick<List, 'req' | 'context'>): AsyncGenerator<Call>
}

export function createExtras(deps: {
  feedback: Feedback
  costs: Pick<Costs, 'priceLists'>
  expansion: Expansion
}): Extras {
  const { expansion, feedback, costs } = deps
  return {
    async *added(calls, { req, context }) {
      if (calls.length === 0 || !hasExtras(req)) return yield* calls
      if (req.include_feedback) await addFeedback(feedback, calls, { projectId: req.project_id, context })
      if (req.include_costs) await addCosts(costs, calls, req.project_id)
      const columns = req.return_expanded_column_values === false ? [] : (req.expand_columns ?? [])
      yield* expansion.expanded(req.project_id, calls, columns)
    },
  }
}

async function addFeedback(
  feedback: Feedback,
  calls: readonly Call[],
  { projectId, context }: { projectId: string; context: CallContext },
): Promise<void> {
  const prefix = `weave:///${projectId}/call/`
  const refs = calls.map(({ id }) => ({ $literal: `${prefix}${id}` }))
  const query = { $expr: { $in: [{ $getField: 'weave_ref' }, refs] as [{ $getField: string }, typeof refs] } }
  const { result } = await feedback.query({ project_id: projectId, fields: FEEDBACK_FIELDS, query }, context)
  const byCall = Map.groupBy(result, (row) => String(row['weave_ref']?.value()).slice(prefix.length))
  for (const call of calls) addDerived(call, 'feedback', byCall.get(call.id) ?? [])
}

async function addCosts(
  costs: Pick<Costs, 'priceLists'>,
  calls: readonly Call[],
  projectId: string,
): Promise<void> {
  const usages: { call: Call; usage: ReturnType<typeof usageIn> }[] = []
  await forEachYielding(calls, (call) => usages.push({ call, usage: usageIn(call.summary.text) }))
  const models = usages.flatMap(({ usage }) => [...usage.keys()])
  const prices = await costs.priceLists(projectId, models)
  await forEachYielding(usages, ({ call, usage }) => {
    const found = costsOf(usage, prices, call.started_at)
    if (found !== undefined) addDerived(call, 'costs', found)
  })
}

/** Adds a member to `summary.weave`, which is the last member of the summary and not empty. */
function addDerived(call: Call, name: string, value: unknown): void {
  call.summary = new JsonText(`${call.summary.text.slice(0, -2)},"${name}":${stringify(value)}}}`)
}
