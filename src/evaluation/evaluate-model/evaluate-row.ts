import { nowIso } from '../../time.ts'
import type { FeedbackCreateReq } from '../../trace/feedback/wire.ts'
import type { Ask } from '../ask.ts'
import { float } from '../auto-summarize.ts'
import { PREDICT_AND_SCORE } from '../evaluation-runs/evaluation-calls.ts'
import type { RecordedCalls } from '../recorded-calls.ts'
import type { ScoredCall, Scorer, ScoringContext } from '../scorers/scorer.ts'
import type { LoadedEvaluation } from './load-evaluation.ts'

/** Wire: the op that runs such a model. */
export const PREDICT = 'LLMStructuredCompletionModel.predict'

/** A row of the dataset, and its how-manieth trial this is. */
export interface Trial {
  digest: string
  row: Record<string, unknown>
  /** Names it within the evaluation, always the same. */
  seed: string
}

/** The result of a scorer, and its call. */
export interface Score {
  scorer: Scorer
  callId: string
  output: unknown
  predictionId: string
}

export interface RowDeps {
  evaluation: LoadedEvaluation
  calls: RecordedCalls
  opRef: (name: string) => string
  askAs: (calls: RecordedCalls) => Ask
  /** What scoring in a call is a part of. */
  scoringIn: (calls: RecordedCalls) => ScoringContext
  /** A score as feedback. @throws ClientError for one that feedback does not hold. */
  toFeedback: (trial: Trial, score: Score) => FeedbackCreateReq
  /** Asks the model for the row. */
  predict: (row: Record<string, unknown>, ask: Ask) => Promise<unknown>
}

/**
 * Predicts and scores one row, as calls like those the Python client makes. Wire: a row whose model fails has no scores,
 * and one of whose scorers fails has no output either; neither ends the evaluation.
 * @returns its scores
 */
export async function evaluateRow(deps: RowDeps, trial: Trial): Promise<FeedbackCreateReq[]> {
  const { evaluation, calls, opRef } = deps
  const feedback: FeedbackCreateReq[] = []
  const inputs = {
    self: evaluation.evaluationRef,
    model: evaluation.modelRef,
    example: evaluation.rowRef + trial.digest,
  }
  const call = { op_name: opRef(PREDICT_AND_SCORE), inputs, seed: trial.seed }
  const work = calls.call(call, async (own) => {
    const startedMs = performance.now()
    const predicted = await predictionOf(deps, trial, own)
    const model_latency = float((performance.now() - startedMs) / 1000)
    if (predicted === undefined)
      return { result: undefined, output: { output: null, scores: {}, model_latency } }
    const settled = await Promise.allSettled(
      evaluation.scorers.map((scorer) => scoreOf(deps, { trial, scorer, predicted }, own)),
    )
    const scored = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    feedback.push(...scored.map((one) => one.feedback))
    const failed = settled.find((one) => one.status === 'rejected')
    if (failed !== undefined) throw failed.reason
    const scores = Object.fromEntries(scored.map(({ name, output }) => [name, output]))
    return { result: undefined, output: { output: predicted.output, scores, model_latency } }
  })
  // What a scorer threw is in its call, and in the row's.
  await work.catch(() => undefined)
  return feedback
}

/** What the model put out, and its call. */
interface Predicted {
  output: unknown
  call: Omit<ScoredCall, 'trace_id'>
}

/** What the model put out, or undefined where it failed. */
async function predictionOf(
  { evaluation, opRef, askAs, predict }: RowDeps,
  { row, digest, seed }: Trial,
  calls: RecordedCalls,
): Promise<Predicted | undefined> {
  const { user_input, ...template_vars } = row
  const column = `${evaluation.rowRef}${digest}/key/user_input`
  const inputs = {
    self: evaluation.modelRef,
    ...(user_input === undefined ? {} : { user_input: column }),
    template_vars,
  }
  const call = { op_name: opRef(PREDICT), inputs, seed: `${seed}/predict` }
  try {
    return await calls.call(call, async (own) => {
      const started_at = nowIso()
      const output = await predict(row, askAs(own))
      const { op_name } = call
      const shown = { id: own.id ?? '', op_name, started_at, ended_at: nowIso(), exception: null }
      return { result: { output, call: shown }, output }
    })
  } catch {
    return undefined
  }
}

function scoreOf(
  { scoringIn, toFeedback }: RowDeps,
  { trial, scorer, predicted }: { trial: Trial; scorer: Scorer; predicted: Predicted },
  calls: RecordedCalls,
): Promise<{ name: string; output: unknown; feedback: FeedbackCreateReq }> {
  const { name, ref, opRef } = scorer
  const inputs = { self: ref, output: predicted.output, inputs: trial.row }
  const call = { op_name: opRef, inputs, seed: `${trial.seed}/score/${ref}` }
  return calls.call(call, async (own) => {
    const context = scoringIn(own)
    const itsCall = { ...predicted.call, trace_id: context.traceId }
    const scored = { output: predicted.output, inputs: trial.row, call: itsCall }
    const output = await scorer.score(scored, context)
    const score = { scorer, callId: own.id ?? '', output, predictionId: itsCall.id }
    return { result: { name, output, feedback: toFeedback(trial, score) }, output }
  })
}
