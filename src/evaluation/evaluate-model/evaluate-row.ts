import { StoreFailed } from '../../errors.ts'
import { NoAnswer } from '../../inference/playground/answer-errors.ts'
import { nowIso } from '../../time.ts'
import type { FeedbackCreateReq } from '../../trace/feedback/wire.ts'
import type { Ask } from '../ask.ts'
import { float } from '../auto-summarize.ts'
import { PREDICT_AND_SCORE } from '../evaluation-runs/evaluation-calls.ts'
import type { RecordedCalls } from '../recorded-calls.ts'
import { isTemporary } from '../retry.ts'
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
  /** Whether a row that cannot be done now has no further attempt. */
  isLastAttempt: boolean
  /** What scoring in a call is a part of. */
  scoringIn: (calls: RecordedCalls) => ScoringContext
  /** A score as feedback. @throws ClientError for one that feedback does not hold. */
  toFeedback: (trial: Trial, score: Score) => FeedbackCreateReq[]
  /** Asks the model for the row. */
  predict: (row: Record<string, unknown>, ask: Ask) => Promise<unknown>
}

/**
 * Predicts and scores one row, as calls like those the Python client makes. Wire: a row whose model fails has no
 * scores, and one of whose scorers fails has no output either; neither ends the evaluation.
 * @returns its scores
 * @throws what a later attempt may not meet, until the last one
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
    feedback.push(...scored.flatMap((one) => one.feedback))
    const failures = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
    if (failures.length > 0) throw failures.find((error) => mayPass(deps, error)) ?? failures[0]
    const scores = Object.fromEntries(scored.map(({ name, output }) => [name, output]))
    return { result: undefined, output: { output: predicted.output, scores, model_latency } }
  })
  // What else a scorer threw is in its call, and in the row's.
  await work.catch((error: unknown) => {
    if (mayPass(deps, error)) throw error
  })
  return feedback
}

/** What the model put out, and its call. */
interface Predicted {
  output: unknown
  call: Omit<ScoredCall, 'trace_id'>
}

/** What the model put out, or undefined where it failed. */
async function predictionOf(
  deps: RowDeps,
  { row, digest, seed }: Trial,
  calls: RecordedCalls,
): Promise<Predicted | undefined> {
  const { evaluation, opRef, askAs, predict } = deps
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
  } catch (error) {
    if (mayPass(deps, error)) throw error
    return undefined
  }
}

/**
 * Whether an error is none of the row, and there is another attempt. An answer is the model's result, however bad it
 * is, and so is that none came, however often it was asked: another attempt would ask anew, and pay again for what did
 * come.
 */
function mayPass({ isLastAttempt }: RowDeps, error: unknown): boolean {
  if (error instanceof StoreFailed) return true
  if (error instanceof NoAnswer) return false
  return !isLastAttempt && isTemporary(error)
}

function scoreOf(
  { scoringIn, toFeedback }: RowDeps,
  { trial, scorer, predicted }: { trial: Trial; scorer: Scorer; predicted: Predicted },
  calls: RecordedCalls,
): Promise<{ name: string; output: unknown; feedback: FeedbackCreateReq[] }> {
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
