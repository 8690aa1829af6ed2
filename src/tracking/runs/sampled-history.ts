import { z } from 'zod'
import { invalidRequest, tooLarge } from '../../errors.ts'
import { forEachYielding } from '../../yielding.ts'
import { parseLine } from '../metrics/json-lines.ts'
import { STEP_END } from '../metrics/rows.ts'
import { KEYS_MAX, LINES_CHARS_MAX, type Metrics, type RunKey } from '../metrics/service.ts'

/** Wire: clients that do not say how many lines they want get 500. */
export const SAMPLES_DEFAULT = 500

/** Samples of one run's history in one request; clients ask for one. */
const SPECS_MAX = 20

/** Wire: a client's selection of history; `_step` is one of the keys, and `maxStep` the last step. */
const Sample = z.strictObject({
  keys: z.array(z.string()).default([]),
  samples: z.int().positive().default(SAMPLES_DEFAULT),
  minStep: z.int().optional(),
  maxStep: z.int().optional(),
})
type Sample = z.output<typeof Sample>

/**
 * The lines that some specs of a client select, as objects.
 * @throws 400 for specs of another shape, 413 for too much.
 */
export async function sampledHistory(
  metrics: Metrics,
  run: RunKey,
  specs: readonly string[],
): Promise<object[][]> {
  if (specs.length > SPECS_MAX) throw invalidRequest(`At most ${SPECS_MAX} samples of a history at once`)
  const samples: object[][] = []
  let chars = 0
  for (const one of specs.map(parseSpec)) {
    const keys = new Set(one.keys)
    const lines = await metrics.sample(run, { stream: 'history', ...one, ...rangeOf(one) })
    const rows: object[] = []
    await forEachYielding(lines, (line) => {
      chars += line.length
      rows.push(chosen(parseLine(line) ?? {}, keys))
    })
    if (chars > LINES_CHARS_MAX) throw tooLarge('These samples have too many characters: ask for fewer')
    samples.push(rows)
  }
  return samples
}

function parseSpec(text: string): Sample {
  const { data, error } = Sample.safeParse(parseLine(text))
  if (data !== undefined) {
    const count = data.keys.length
    if (count > KEYS_MAX) throw invalidRequest(`A sample has ${KEYS_MAX} keys at most, not ${count}`)
    return data
  }
  const unknown = error.issues.flatMap((issue) => (issue.code === 'unrecognized_keys' ? issue.keys : []))
  const which = unknown.length === 0 ? '' : `, not ${unknown.join(', ')}`
  throw invalidRequest(`A sample of a history has keys, samples, minStep and maxStep${which}`)
}

/**
 * Wire: clients read pages of as many samples as steps. 0.22 sends the first step of the next page as the last of this
 * one, which would be read twice.
 */
function rangeOf({ minStep = 0, maxStep = STEP_END - 1, samples }: Sample) {
  return { stepFrom: minStep, stepBefore: maxStep - minStep === samples ? maxStep : maxStep + 1 }
}

/** Wire: JSON has no NaN, so the client reads it as text. */
function chosen(line: Record<string, unknown>, keys: ReadonlySet<string>): Record<string, unknown> {
  const wanted = Object.entries(line).filter(([key]) => keys.has(key))
  return Object.fromEntries(
    wanted.map(([key, value]) => [
      key,
      typeof value === 'number' && !Number.isFinite(value) ? String(value) : value,
    ]),
  )
}
