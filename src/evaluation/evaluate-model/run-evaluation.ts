import { z } from 'zod'
import type { Principals } from '../../accounts/callers/principals.ts'
import type { CallContext } from '../../http/caller.ts'
import { derivedId } from '../../ids.ts'
import type { Playground } from '../../inference/playground/service.ts'
import { JsonText, stringify } from '../../json/lossless-json.ts'
import { nowIso } from '../../time.ts'
import type { Calls } from '../../trace/calls/service.ts'
import { endPart } from '../../trace/calls/write/parts.ts'
import type { Feedback } from '../../trace/feedback/service.ts'
import type { Objects } from '../../trace/objects/service.ts'
import type { Tables } from '../../trace/tables/service.ts'
import { askAs } from '../ask.ts'
import { backgroundContext, contextOfWork } from '../background-context.ts'
import { SUMMARIZE } from '../evaluation-runs/evaluation-calls.ts'
import {
  addTotals,
  noTotals,
  type RecordedCalls,
  recordCalls,
  summaryOf,
  type Totals,
} from '../recorded-calls.ts'
import { scoreFeedback } from '../scorers/score-feedback.ts'
import { predictStructured } from '../structured-completion.ts'
import { withoutTexts } from '../without-texts.ts'
import { type TrialSignals, workOnAll } from './all-trials.ts'
import { evaluateRow, type Trial } from './evaluate-row.ts'
import type { LoadedEvaluation } from './load-evaluation.ts'
import { summarizeRows } from './summarize-rows.ts'
import { EvaluationDeleted, whileWanted } from './while-wanted.ts'

/** Rows of the dataset in memory. */
const ROWS_PER_PAGE = 500

/** Wire: how the service marks calls of evaluations that it runs itself. */
const ATTRIBUTES = { _weave_eval_meta: { declarative: true, evaluate_model_worker: true } }

export interface RunningDeps {
  calls: Pick<Calls, 'read' | 'list' | 'ids' | 'writeParts' | 'delete'>
  feedback: Pick<Feedback, 'record'>
  objects: Pick<Objects, 'read'>
  tables: Pick<Tables, 'queryStream'>
  playground: Pick<Playground, 'ask'>
  principals: Principals
  opRef: (projectId: string, name: string) => string
}

/** An evaluation that runs on the server, and for whom. */
export interface EvaluationJob {
  /** The call of the evaluation. */
  call_id: string
  project_id: string
  user: string
  key_id: string
  /** Whether what may pass is kept as the result of its row. */
  isLastAttempt: boolean
}

/** An evaluation that is being run. */
interface Running {
  job: EvaluationJob
  evaluation: LoadedEvaluation
  /** With the rights that the user and the key had at the last check, which the rows that begin after it have. */
  context: CallContext
  opRef: (name: string) => string
}

/**
 * Evaluates every row that has no result, and ends the evaluation with its summary. The result of a row is written at
 * once, and its calls have the same ids in every attempt: only an interrupted row is evaluated again.
 * @throws EvaluationDeleted once its call is gone; 403 once its user or key may not change the project; the reason of
 * `signal`, which leaves everything as it is; that of `turn`, and what some rows may not meet later, once the rows in
 * progress have been evaluated.
 */
export async function runEvaluation(
  deps: RunningDeps,
  job: EvaluationJob,
  evaluation: LoadedEvaluation,
  { signal, turn }: Pick<TrialSignals, 'signal' | 'turn'>,
): Promise<void> {
  const failed = new AbortController()
  const either = AbortSignal.any([signal, failed.signal])
  const running: Running = {
    job,
    evaluation,
    context: backgroundContext(job, either),
    opRef: (name) => deps.opRef(job.project_id, name),
  }
  const evaluate = (trial: Trial) => evaluateAndWrite(deps, running, trial)
  await whileWanted(
    () => checkWanted(deps, running),
    failed,
    () => workOnAll(waitingTrials(deps, running), evaluate, { signal, turn, failed }),
  )
  const { rows, totals } = await readOutcomes(deps, running)
  const summary = new JsonText(stringify(summarizeRows(rows, evaluation.scorers)))
  const calls = recorded(running)
  const inputs = { self: evaluation.evaluationRef }
  const call = { op_name: running.opRef(SUMMARIZE), inputs, seed: 'summarize' }
  await calls.call(call, async () => ({ result: undefined, output: summary }))
  totals.status_counts.success++
  addTotals(totals, calls.totals)
  const end = {
    project_id: job.project_id,
    id: job.call_id,
    ended_at: nowIso(),
    output: summary,
    summary: new JsonText(stringify(summaryOf(totals))),
  }
  await deps.calls.writeParts([...calls.parts, endPart(end, [])])
}

/** Rows without a result, in the order of the dataset, once for each trial. */
async function* waitingTrials(deps: RunningDeps, running: Running): AsyncGenerator<Trial> {
  const { job, evaluation, context } = running
  const { projectId: project_id, digest, rows } = evaluation.table
  const done = new Set<string>()
  const filter = { parent_ids: [job.call_id] }
  for await (const id of await deps.calls.ids({ project_id, filter }, context)) done.add(id)
  for (let index = 0; index < rows * evaluation.trials; index += ROWS_PER_PAGE) {
    const limit = Math.min(ROWS_PER_PAGE, rows * evaluation.trials - index)
    const waiting = Array.from({ length: limit }, (_, at) => index + at).filter(
      (at) => !done.has(derivedId(job.call_id, seedOf(at))),
    )
    if (waiting.length === 0) continue
    const values = new Map<number, Omit<Trial, 'seed'>>()
    // A page may span two trials, and then starts the dataset again.
    for (const offset of new Set([index % rows, 0])) {
      const page = await deps.tables.queryStream({ project_id, digest, limit, offset }, context)
      for await (const row of page)
        values.set(row.original_index, { digest: row.digest, row: columnsOf(row.val) })
    }
    for (const at of waiting) {
      const row = values.get(at % rows)
      if (row === undefined) throw new Error(`Row ${at % rows} of table ${digest} is gone`)
      yield { ...row, seed: seedOf(at) }
    }
  }
}

/** A row of the dataset in one trial; trials follow each other. */
function seedOf(index: number): string {
  return `row/${index}`
}

const Columns = z.looseObject({})

function columnsOf(row: JsonText): Record<string, unknown> {
  return Columns.parse(row.value())
}

/** Reads the rights of the evaluation again. @throws EvaluationDeleted when the call is gone; 403 */
async function checkWanted({ calls, principals }: RunningDeps, running: Running): Promise<void> {
  const { job } = running
  const context = await contextOfWork(principals, job, running.context.signal)
  running.context = context
  const { call } = await calls.read({ project_id: job.project_id, id: job.call_id }, context)
  if (call == null) throw new EvaluationDeleted(`Evaluation ${job.call_id} was deleted`)
}

function recorded({ job }: Running): RecordedCalls {
  const { project_id, call_id, user } = job
  return recordCalls({
    project_id,
    base: call_id,
    trace_id: call_id,
    parent_id: call_id,
    attributes: ATTRIBUTES,
    user,
  })
}

/** Feedback is written first: a row whose calls exist is never evaluated again. */
async function evaluateAndWrite(deps: RunningDeps, running: Running, trial: Trial): Promise<void> {
  const { job, evaluation, context, opRef } = running
  const { project_id, call_id } = job
  const calls = recorded(running)
  const ask = (own: RecordedCalls) => askAs({ playground: deps.playground, context, project_id }, own)
  const feedback = await evaluateRow(
    {
      evaluation,
      calls,
      opRef,
      askAs: ask,
      isLastAttempt: job.isLastAttempt,
      scoringIn: (own) => ({
        ask: ask(own),
        project_id,
        callId: own.id ?? call_id,
        traceId: call_id,
        signal: context.signal,
      }),
      toFeedback: ({ seed }, { scorer, output, callId, predictionId }) =>
        scoreFeedback({
          callId,
          scorer,
          output,
          id: derivedId(call_id, `${seed}/feedback/${scorer.ref}`),
          project_id,
          scoredId: predictionId,
        }),
      predict: (row, ask) =>
        predictStructured(evaluation.model, inputOf(row), { ...deps, projectId: project_id, ask }),
    },
    trial,
  )
  context.signal.throwIfAborted()
  if (feedback.length > 0) await deps.feedback.record(feedback, job.user)
  await deps.calls.writeParts(calls.parts)
}

function inputOf({ user_input, ...template_vars }: Record<string, unknown>) {
  return { user_input, template_vars }
}

const Counts = z.looseObject({
  usage: z.record(z.string(), z.looseObject({})).catch({}),
  status_counts: z.object({ success: z.int(), error: z.int() }).catch({ success: 0, error: 0 }),
})

/**
 * The result of every row, in order, without texts, which are not summarized. Clients may have put other calls below
 * the evaluation.
 */
async function readOutcomes(
  { calls }: RunningDeps,
  { job, evaluation, context }: Running,
): Promise<{ rows: unknown[]; totals: Totals }> {
  const { project_id, call_id } = job
  const ids = Array.from({ length: evaluation.table.rows * evaluation.trials }, (_, at) =>
    derivedId(call_id, seedOf(at)),
  )
  const own = new Set(ids)
  const outputs = new Map<string, unknown>()
  const totals = noTotals()
  const filter = { parent_ids: [call_id] }
  const columns = ['output', 'summary']
  for await (const call of await calls.list({ project_id, filter, columns }, context)) {
    if (!own.has(call.id)) continue
    outputs.set(call.id, call.output === null ? null : withoutTexts(call.output.text))
    addTotals(totals, Counts.parse(call.summary?.value() ?? {}))
  }
  return { rows: ids.map((id) => outputs.get(id)), totals }
}
