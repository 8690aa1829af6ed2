import { z } from 'zod'
import type { CallContext } from '../../http/caller.ts'
import { JsonText, memberText } from '../../json/lossless-json.ts'
import { rowsOf, type TraceDb } from '../../stores/trace-db/port.ts'
import { microsOf } from '../../time.ts'
import { opShortName } from '../../trace/calls/sql/derived.ts'
import { isPrediction, tokensIn } from './predictions.ts'
import * as queries from './queries.ts'
import type * as wire from './wire.ts'

/** A trial and, where it was requested, its example. */
export interface ReadTrial {
  /** Without costs. */
  trial: wire.Trial
  example: JsonText | null
  root: string
  startedAt: string
  /** The usage of the prediction, or of the trial where there is none: JSON or '', and its start. */
  used: { usage: string; startedAt: string }
}

export interface TrialOptions {
  projectId: string
  children: boolean
  examples: boolean
  /** Whether trials show their errors. */
  errors: boolean
  context: CallContext
  /** Counts the characters of each payload that is read, and throws above the limit. */
  onPayload?: (chars: number) => void
}

const SpanRefs = z.array(z.object({ trace_id: z.string(), span_id: z.string() })).catch([])

/** Reads the payloads of trials whose ids are known; of their children only ids and names. */
export interface TrialReading {
  /** Trials by their ids; without those that were deleted meanwhile. */
  read(ids: readonly string[], options: TrialOptions): Promise<Map<string, ReadTrial>>
}

export function createTrialReading({ traces }: { traces: TraceDb }): TrialReading {
  async function trialsOf(ids: readonly string[], options: TrialOptions): Promise<queries.TrialRow[]> {
    const query = queries.selectTrials(options.projectId, ids, options.examples ? 'with' : 'without')
    const found: queries.TrialRow[] = []
    for await (const row of traces.query<queries.TrialRow>(query, options.context.signal)) {
      options.onPayload?.(row.output.length + row.example_in.length + row.exception.length)
      found.push(row)
    }
    return found
  }

  async function childrenOf(
    ids: readonly string[],
    { projectId, children, context }: TrialOptions,
  ): Promise<Map<string, queries.ChildRow[]>> {
    if (!children || ids.length === 0) return new Map()
    const query = queries.selectChildren(projectId, ids)
    return Map.groupBy(
      await rowsOf(traces.query<queries.ChildRow>(query, context.signal)),
      ({ trial }) => trial,
    )
  }

  async function read(ids: readonly string[], options: TrialOptions): Promise<Map<string, ReadTrial>> {
    const [rows, children] = await Promise.all([trialsOf(ids, options), childrenOf(ids, options)])
    const found = rows.map((row): [string, ReadTrial] => {
      const below = children.get(row.id) ?? []
      const read = readTrial(row, below)
      if (options.errors) {
        read.trial.error = errorOf(row, below, read.trial)
        options.onPayload?.(read.trial.error?.length ?? 0)
      }
      return [row.id, read]
    })
    return new Map(found)
  }

  return { read }
}

function readTrial(row: queries.TrialRow, children: readonly queries.ChildRow[]): ReadTrial {
  const predict = children.find((child) => !child.is_score && isPrediction(child, row))
  const { usage, started_at: startedAt } = predict ?? row
  const scores = objectAt(row.output, 'scores')
  const example = row.example_in === '' ? undefined : memberText(row.example_in, 'example')
  const spans = predict?.spans ? SpanRefs.parse(JSON.parse(predict.spans)) : []
  const trial: wire.Trial = {
    predict_and_score_call_id: row.id,
    predict_call_id: predict?.id ?? null,
    model_output: jsonAt(row.output, 'output') ?? jsonAt(row.output, 'model_output') ?? null,
    scores: new JsonText(scores),
    model_latency_seconds: latencyOf(row, predict),
    total_tokens: tokensIn(usage),
    total_cost: null,
    scorer_call_ids: scorerCalls(
      Object.keys(Object(JSON.parse(scores))),
      children.filter((child) => child !== predict),
    ),
    genai_span_ref: spans.length === 0 ? null : spans,
  }
  return {
    trial,
    example: example === undefined || example === 'null' ? null : new JsonText(example),
    root: row.root,
    startedAt: row.started_at,
    used: { usage, startedAt },
  }
}

/** Its own exception, or that of the prediction, or else of the first scorer that failed; null where none did. */
function errorOf(
  row: queries.TrialRow,
  children: readonly queries.ChildRow[],
  { predict_call_id }: wire.Trial,
): string | null {
  const predict = children.find(({ id }) => id === predict_call_id)
  const first = children.find(({ exception }) => exception !== '')
  return row.exception || predict?.exception || first?.exception || null
}

/**
 * The call that made each score, by name: marked calls and calls named after the scorer take precedence, and of several
 * the last, whose score counts.
 */
function scorerCalls(
  scorers: readonly string[],
  children: readonly queries.ChildRow[],
): Record<string, string> {
  const named = children
    .toReversed()
    .map((child) => ({ ...child, name: opShortName(child.op_name).toLowerCase() }))
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
  const latency = memberText(output, 'model_latency') ?? 'null'
  const mean: unknown = JSON.parse(memberText(latency, 'mean') ?? latency)
  return typeof mean === 'number' ? mean : null
}

function jsonAt(text: string, name: string): JsonText | undefined {
  const member = memberText(text, name)
  return member === undefined || member === 'null' ? undefined : new JsonText(member)
}

function objectAt(text: string, name: string): string {
  const member = memberText(text, name)
  return member?.startsWith('{') ? member : '{}'
}
