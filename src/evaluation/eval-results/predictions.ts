import { opShortName } from '../../trace/calls/sql/derived.ts'

/** A call below a trial that is not a score, with what identifies the prediction. */
export interface Candidate {
  op_name: string
  /** Hash of the model that it is called on. */
  self_hash: string
}

/**
 * Wire: of the calls below a trial that are not scores, the first call that is the model's, by what it is called on or
 * by its name.
 */
export function isPrediction(
  { op_name, self_hash }: Candidate,
  { model, model_hash }: { model: string; model_hash: string },
): boolean {
  return self_hash === model_hash || op_name === model || /predict|invoke/i.test(opShortName(op_name))
}

/** Wire: the tokens in what a call says of its usage; null where no model says how many. */
export function tokensIn(usage: string): number | null {
  if (usage === '') return null
  const counts = Object.values(Object(JSON.parse(usage))).flatMap((one): number[] => {
    const total: unknown = Object(one).total_tokens
    return typeof total === 'number' ? [Math.trunc(total)] : []
  })
  return counts.length === 0 ? null : counts.reduce((sum, count) => sum + count)
}
