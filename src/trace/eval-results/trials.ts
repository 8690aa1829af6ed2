import { z } from 'zod'
import type { CallContext } from '../../http/caller.ts'
import { JsonText, memberText } from '../../lossless-json.ts'
import { rowsOf, type TraceDb } from '../../stores/trace-db/port.ts'
import { microsOf } from '../../time.ts'
import { opShortName } from '../calls/fields.ts'
import type { Calls } from '../calls/service.ts'
import * as queries from './queries.ts'
import type * as wire from './wire.ts'

/** Wire: a list in a filter is limited to this. */
const IDS_PER_QUERY = 1000

/** A trial and, where it was asked for, its example. */
export interface ReadTrial {
  trial: wire.Trial
  example: JsonText | null
}

export interface TrialOptions {
  projectId: string
  children: boolean
  costs: boolean
  examples: boolean
  context: CallContext
}

const SpanRefs = z.array(z.object({ trace_id: z.string(), span_id: z.string() })).catch([])

/** Reads the payloads of trials whose ids are known; nothing of their children but who they are. */
export function createTrialReading({ traces, calls }: { traces: TraceDb; calls: Calls }) {
  async function childrenOf(
    ids: readonly string[],
    { projectId, children, context }: TrialOptions,
  ): Promise<Map<string, queries.ChildRow[]>> {
    const found: queries.ChildRow[] = []
    for (let at = 0; children && at < ids.length; at += IDS_PER_QUERY) {
      const query = queries.selectChildren(projectId, ids.slice(at, at + IDS_PER_QUERY))
      found.push(...(await rowsOf(traces.query<queries.ChildRow>(query, context.signal))))
    }
    return Map.groupBy(found, ({ trial }) => trial)
  }

  async function costsOf(ids: readonly string[], { projectId, context }: TrialOptions) {
    const costs = new Map<string, number>()
    for (let at = 0; at < ids.length; at += IDS_PER_QUERY) {
      const filter = { call_ids: ids.slice(at, at + IDS_PER_QUERY) }
      const req = { project_id: projectId, filter, columns: ['summary'], include_costs: true }
      for await (const call of await calls.list(req, context)) {
        const cost = costIn(call.summary)
        if (cost !== undefined) costs.set(call.id, cost)
      }
    }
    return costs
  }

  return {
    /** Trials by their ids; without those that were deleted meanwhile. */
    async read(ids: readonly string[], options: TrialOptions): Promise<Map<string, ReadTrial>> {
      const { projectId, costs, examples, context } = options
      const query = queries.selectTrials(projectId, ids, examples ? 'with' : 'without')
      const [rows, children] = await Promise.all([
        rowsOf(traces.query<queries.TrialRow>(query, context.signal)),
        childrenOf(ids, options),
      ])
      const trials = rows.map((row) => readTrial(row, children.get(row.id) ?? []))
      if (costs) {
        const ownIds = trials.map(({ trial }) => trial.predict_call_id ?? trial.predict_and_score_call_id)
        const found = await costsOf(ownIds, options)
        for (const [index, { trial }] of trials.entries())
          trial.total_cost = found.get(ownIds[index] ?? '') ?? null
      }
      return new Map(trials.map((read) => [read.trial.predict_and_score_call_id, read]))
    },
  }
}

function readTrial(row: queries.TrialRow, children: readonly queries.ChildRow[]): ReadTrial {
  const predict = predictCall(row, children)
  const scores = objectAt(row.output, 'scores')
  const example = row.example_in === '' ? undefined : memberText(row.example_in, 'example')
  const spans = predict?.spans ? SpanRefs.parse(JSON.parse(predict.spans)) : []
  const trial: wire.Trial = {
    predict_and_score_call_id: row.id,
    predict_call_id: predict?.id ?? null,
    model_output: jsonAt(row.output, 'output') ?? jsonAt(row.output, 'model_output') ?? null,
    scores: new JsonText(scores),
    model_latency_seconds: latencyOf(row, predict),
    total_tokens: tokensIn((predict ?? row).usage),
    total_cost: null,
    scorer_call_ids: scorerCalls(
      Object.keys(Object(JSON.parse(scores))),
      children.filter((child) => child !== predict),
    ),
    genai_span_ref: spans.length === 0 ? null : spans,
  }
  return { trial, example: example === undefined || example === 'null' ? null : new JsonText(example) }
}

/** Wire: the first child that is no score and is the model's, by what it is called on or by its name. */
function predictCall(
  { model, model_hash }: queries.TrialRow,
  children: readonly queries.ChildRow[],
): queries.ChildRow | undefined {
  return children.find(
    (child) =>
      !child.is_score &&
      (child.self_hash === model_hash ||
        child.op_name === model ||
        /predict|invoke/i.test(opShortName(child.op_name))),
  )
}

/** Which call made each score, by their names: marked ones and those named so come before any other call. */
function scorerCalls(
  scorers: readonly string[],
  children: readonly queries.ChildRow[],
): Record<string, string> {
  const named = children.map((child) => ({ ...child, name: opShortName(child.op_name).toLowerCase() }))
  const isScorer = (child: { is_score: 0 | 1; name: string }): boolean =>
    child.is_score === 1 || /\.score|scorer/.test(child.name)
  const candidates = [...named.filter(isScorer), ...named.filter((child) => !isScorer(child))]
  const found = scorers.flatMap((scorer): [string, string][] => {
    const key = scorer.toLowerCase()
    const exact = candidates.find(({ name }) => name === key || name === `${key}.score`)
    const match = exact ?? candidates.find(({ name }) => name.includes(key) || key.includes(name))
    return match === undefined ? [] : [[scorer, match.id]]
  })
  return Object.fromEntries(found)
}

function latencyOf({ output }: queries.TrialRow, predict: queries.ChildRow | undefined): number | null {
  if (predict?.ended_at) return (microsOf(predict.ended_at) - microsOf(predict.started_at)) / 1e6
  const said = memberText(output, 'model_latency') ?? 'null'
  const mean: unknown = JSON.parse(memberText(said, 'mean') ?? said)
  return typeof mean === 'number' ? mean : null
}

/** Wire: null where no model says how many. */
function tokensIn(usage: string): number | null {
  const used: unknown = JSON.parse(usage || 'null')
  const counts = Object.values(Object(used)).flatMap((one): number[] => {
    const total: unknown = Object(one).total_tokens
    return typeof total === 'number' ? [Math.trunc(total)] : []
  })
  return counts.length === 0 ? null : counts.reduce((sum, count) => sum + count)
}

/** What a call cost, whatever models it used; undefined where none has a price. */
function costIn(summary: JsonText): number | undefined {
  const weave = memberText(summary.text, 'weave') ?? '{}'
  const costs: unknown = JSON.parse(memberText(weave, 'costs') ?? 'null')
  if (costs === null) return undefined
  const totals = Object.values(Object(costs)).flatMap((one) => Object.entries(Object(one)))
  return totals.reduce(
    (sum: number, [name, value]) =>
      name.endsWith('_total_cost') && typeof value === 'number' ? sum + value : sum,
    0,
  )
}

function jsonAt(text: string, name: string): JsonText | undefined {
  const member = memberText(text, name)
  return member === undefined || member === 'null' ? undefined : new JsonText(member)
}

function objectAt(text: string, name: string): string {
  const member = memberText(text, name)
  return member?.startsWith('{') ? member : '{}'
}
