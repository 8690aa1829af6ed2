import { invalidRequest } from '../../errors.ts'

/** Wire: where the fields of a request are in a trial. */
export const ROOTS = { scores: 'output.scores', outputs: 'output.output', inputs: 'inputs.example' } as const

/** @throws 400 for a field that trials do not have. */
export function pathInTrial(field: string): string {
  const [, root = '', rest = ''] = /^(scores|outputs|inputs)((?:\..*)?)$/s.exec(field) ?? []
  if (root !== 'scores' && root !== 'outputs' && root !== 'inputs')
    throw invalidRequest(`Field ${field.slice(0, 200)} must begin with scores., inputs. or outputs.`)
  return `${ROOTS[root]}${rest}`
}
