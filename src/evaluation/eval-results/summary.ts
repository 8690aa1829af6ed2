import type { CallContext } from '../../http/caller.ts'
import { rowsOf, type TraceDb } from '../../stores/trace-db/port.ts'
import { readRowBinary, wholeRows } from '../../stores/trace-db/row-binary.ts'
import { isoOfMicros } from '../../time.ts'
import type { Call } from '../../trace/calls/messages/call-wire.ts'
import type { Calls } from '../../trace/calls/service.ts'
import type { Selection } from '../../trace/calls/sql/selection.ts'
import { createReplyBudget } from '../../trace/collect-reply.ts'
import { forEachYielding } from '../../yielding.ts'
import { textAt } from '../evaluation-runs/evaluation-calls.ts'
import { withoutTexts } from '../without-texts.ts'
import { pairScores } from './paired-scores.ts'
import { isPrediction, tokensIn } from './predictions.ts'
import * as queries from './queries.ts'
import { createScorerStats, isShare } from './scorer-stats.ts'
import type { RowOfTrials } from './sorted-trials.ts'
import type { TrialCosts } from './trial-costs.ts'
import type * as wire from './wire.ts'

type EvaluationSummary = wire.Summary['evaluations'][number]

interface SummaryOptions {
  req: Pick<wire.EvalResultsReq, 'include_predict_and_score_children' | 'include_errors' | 'include_paired'>
  /** The evaluations. */
  roots: readonly string[]
  /** Of their trials. */
  selection: Selection
  /** Absent where no costs were requested. */
  trialCosts: TrialCosts | undefined
  /** The ids of trials with an error; absent unless requested. */
  errors: ReadonlySet<string> | undefined
  context: CallContext
}

/** Aggregates trials, of which the database returns only the columns needed, in two queries. */
export interface Summaries {
  /** @param rows with the trials that count */
  of(rows: readonly RowOfTrials[], options: SummaryOptions): Promise<wire.Summary>
}

export function createSummaries({ traces, calls }: { traces: TraceDb; calls: Calls }): Summaries {
  async function readScores(trials: Trials, { selection, trialCosts, context }: SummaryOptions) {
    const models = createShared()
    const onPayload = createReplyBudget()
    for await (const piece of wholeRows(traces, queries.selectScores(selection), context.signal)) {
      for (const row = readRowBinary(piece); !row.done(); ) {
        const trial = trials.get(row.text())
        const scores = row.text()
        const startedAt = row.micros()
        const usage = row.text()
        const model = models.shared(row.text())
        const model_hash = models.shared(row.text())
        if (trial === undefined) continue
        trial.found = {
          scores: kept(scores),
          model,
          model_hash,
          by: 'itself',
          tokens: tokensIn(usage),
          cost: null,
        }
        onPayload(trial.found.scores.length)
        if (trialCosts !== undefined)
          trial.found.cost = await trialCosts.costOf(usage, isoOfMicros(startedAt))
      }
    }
  }

  async function readAnswers(trials: Trials, { selection, trialCosts, context }: SummaryOptions) {
    for await (const piece of wholeRows(traces, queries.selectAnswers(selection), context.signal)) {
      for (const row = readRowBinary(piece); !row.done(); ) {
        const found = trials.get(row.text())?.found
        const op_name = row.text()
        const self_hash = row.text()
        const startedAt = row.micros()
        const usage = row.text()
        if (found?.by !== 'itself' || !isPrediction({ op_name, self_hash }, found)) continue
        found.by = 'prediction'
        found.tokens = tokensIn(usage)
        if (trialCosts !== undefined) found.cost = await trialCosts.costOf(usage, isoOfMicros(startedAt))
      }
    }
  }

  async function of(rows: readonly RowOfTrials[], options: SummaryOptions): Promise<wire.Summary> {
    const { req, roots, selection, context } = options
    const trials: Trials = new Map()
    for (const { trials: own } of rows) for (const { id, root } of own) trials.set(id, { root })
    if (trials.size > 0) await readScores(trials, options)
    if (trials.size > 0 && req.include_predict_and_score_children) await readAnswers(trials, options)
    const filter = { call_ids: [...roots] }
    const about = { project_id: selection.project_id, filter, columns: ['inputs'] }
    const called = await rowsOf(await calls.list(about, context))
    const sums = await summed(trials, called, options.errors)
    const counts = options.errors === undefined ? undefined : rowCounts(rows)
    const paired = req.include_paired
      ? await pairScores(rows, {
          baseline: roots[0] ?? '',
          scoresOf: (id) => scoresIn(trials.get(id)?.found?.scores ?? ''),
          errors: options.errors ?? new Set(),
          shares: sharesOf(sums),
        })
      : undefined
    const evaluations = sums.map((sum) => {
      const { evaluation_call_id: id } = sum
      const isCompared = paired !== undefined && id !== roots[0]
      return {
        ...sum,
        ...(counts !== undefined && { row_count: counts.get(id) ?? 0 }),
        ...(isCompared && { paired: paired.get(id) ?? [] }),
      }
    })
    return { row_count: rows.length, evaluations }
  }

  return { of }
}

/** The trials that count, by id, in the order of their rows. */
type Trials = Map<string, { root: string; found?: Found }>

/** A trial with the usage of its prediction, or its own where there is none. */
interface Found {
  /** JSON, or ''. */
  scores: string
  model: string
  model_hash: string
  by: 'itself' | 'prediction'
  tokens: number | null
  cost: number | null
}

/** Shorter scores are kept as they are: to parse them twice would cost more than their texts. */
const LONG_CHARS = 300

/** JSON, or '': long scores without their texts, such as the reasons of judges, of which only the number counts. */
function kept(scores: string): string {
  return scores.length < LONG_CHARS ? scores : JSON.stringify(withoutTexts(scores))
}

/** Texts shared in memory: most trials have one of few models. */
function createShared(): { shared: (text: string) => string } {
  const texts = new Map<string, string>()
  return {
    shared(text) {
      const known = texts.get(text)
      if (known === undefined) texts.set(text, text)
      return known ?? text
    },
  }
}

/** Wire: only evaluations with trials. */
async function summed(
  trials: Trials,
  evaluations: readonly Call[],
  errors: ReadonlySet<string> | undefined,
): Promise<EvaluationSummary[]> {
  const known = new Map(evaluations.map((one) => [one.id, one]))
  const sums: EvaluationSummary[] = []
  for (const [id, own] of Map.groupBy(trials, ([, { root }]) => root)) {
    const found = own.flatMap(([, trial]) => trial.found ?? [])
    if (found.length === 0) continue
    const stats = createScorerStats()
    await forEachYielding(own, ([trialId, trial]) => {
      if (trial.found === undefined) return
      stats.add(scoresIn(trial.found.scores), errors?.has(trialId) ? 'error' : 'done')
    })
    sums.push({
      evaluation_call_id: id,
      trial_count: found.length,
      scorer_stats: errors === undefined ? stats.all() : stats.allWithErrors(),
      ...(errors !== undefined && { error_count: own.filter(([trial]) => errors.has(trial)).length }),
      ...aboutRoot(known.get(id)),
      predict_total_cost: sumOf(found.map(({ cost }) => cost)),
      predict_total_tokens: sumOf(found.map(({ tokens }) => tokens)),
    })
  }
  return sums
}

function scoresIn(scores: string): Record<string, unknown> {
  return scores.startsWith('{') ? JSON.parse(scores) : {}
}

/** The fields that are true or false in all evaluations. */
function sharesOf(sums: readonly EvaluationSummary[]): Set<string> {
  const stats = sums.flatMap(({ scorer_stats }) => scorer_stats)
  const fieldsOf = (some: typeof stats) => new Set(some.flatMap(({ field }) => field ?? []))
  return fieldsOf(stats.filter(isShare)).difference(
    fieldsOf(stats.filter(({ numeric_count }) => numeric_count > 0)),
  )
}

/** Number of the rows of each evaluation. */
function rowCounts(rows: readonly RowOfTrials[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { trials } of rows)
    for (const root of new Set(trials.map((trial) => trial.root)))
      counts.set(root, (counts.get(root) ?? 0) + 1)
  return counts
}

/** Null where there are no values. */
function sumOf(numbers: readonly (number | null)[]): number | null {
  return numbers.reduce((sum, number) => (number === null ? sum : (sum ?? 0) + number), null)
}

function aboutRoot(root: Call | undefined) {
  const text = (name: string): string | null => (root && textAt(root.inputs, name)) ?? null
  return {
    evaluation_ref: text('self') ?? text('this'),
    model_ref: text('model'),
    display_name: root?.display_name ?? null,
    trace_id: root?.trace_id ?? null,
    started_at: root?.started_at ?? null,
  } satisfies Partial<EvaluationSummary>
}
