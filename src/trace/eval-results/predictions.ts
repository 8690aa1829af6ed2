import { opShortName } from '../calls/fields.ts'

/** A call below a trial that is no score, as far as it tells whether it is the prediction. */
export interface Candidate {
  op_name: string
  /** Of what it is called on. */
  self_hash: string
}

/** Wire: of what is below a trial and no score, the first call that is the model's, by what it is called on or by its name. */
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
