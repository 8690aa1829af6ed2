import type { Ask } from '../ask.ts'
import { float } from '../auto-summarize.ts'
import { PREDICT_AND_SCORE } from '../evaluation-runs/evaluation-calls.ts'
import type { RecordedCalls } from '../recorded-calls.ts'
import type { Scorer, ScoringContext } from '../scorers/scorer.ts'
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
}

/** What one row came to. */
export interface RowOutcome {
  predictionId: string | undefined
  scores: Score[]
}

export interface RowDeps {
  evaluation: LoadedEvaluation
  calls: RecordedCalls
  opRef: (name: string) => string
  askAs: (calls: RecordedCalls) => Ask
  /** What scoring in a call is a part of. */
  scoringIn: (calls: RecordedCalls) => ScoringContext
  /** Asks the model for the row. */
  predict: (row: Record<string, unknown>, ask: Ask) => Promise<unknown>
}

/**
 * Predicts and scores one row, as calls like those the Python client makes. Wire: a row whose model fails has no scores,
 * and one of whose scorers fails has no output either; neither ends the evaluation.
 */
export async function evaluateRow(deps: RowDeps, trial: Trial): Promise<RowOutcome> {
  const { evaluation, calls, opRef } = deps
  const outcome: RowOutcome = { predictionId: undefined, scores: [] }
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
    outcome.predictionId = predicted.id
    const settled = await Promise.allSettled(
      evaluation.scorers.map((scorer) => scoreOf(deps, { trial, scorer, output: predicted.output }, own)),
    )
    outcome.scores = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    const failed = settled.find((one) => one.status === 'rejected')
    if (failed !== undefined) throw failed.reason
    const scores = Object.fromEntries(outcome.scores.map(({ scorer, output }) => [scorer.name, output]))
    return { result: undefined, output: { output: predicted.output, scores, model_latency } }
  })
  // What a scorer threw is in its call, and in the row's.
  await work.catch(() => undefined)
  return outcome
}

/** What the model put out, or undefined where it failed. */
async function predictionOf(
  { evaluation, opRef, askAs, predict }: RowDeps,
  { row, digest, seed }: Trial,
  calls: RecordedCalls,
): Promise<{ id: string | undefined; output: unknown } | undefined> {
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
      const output = await predict(row, askAs(own))
      return { result: { id: own.id, output }, output }
    })
  } catch {
    return undefined
  }
}

function scoreOf(
  { scoringIn }: RowDeps,
  { trial, scorer, output }: { trial: Trial; scorer: Scorer; output: unknown },
  calls: RecordedCalls,
): Promise<Score> {
  const inputs = { self: scorer.ref, output, inputs: trial.row }
  const call = { op_name: scorer.opRef, inputs, seed: `${trial.seed}/score/${scorer.ref}` }
  return calls.call(call, async (own) => {
    const scored = await scorer.score({ output, inputs: trial.row }, scoringIn(own))
    return { result: { scorer, callId: own.id ?? '', output: scored }, output: scored }
  })
}
