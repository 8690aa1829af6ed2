import { invalidRequest } from '../../errors.ts'
import { isRecord } from '../../json/is-record.ts'

const STEP = /\.?([\w-]+)|\[(\d+|\*)\]|\[(?:'([^']*)'|"([^"]*)")\]/y

/** Steps of a path; each is a call below the one before. */
const STEPS_MAX = 100

/**
 * The values at a JSON path, one by one: `$.a.b[0]`, `a['b'][*].c`; none where nothing is.
 * @throws 400 for what is no such path.
 */
export function valuesAtPath(root: unknown, path: string): Iterable<unknown> {
  return below(root, stepsOf(path), 0)
}

function stepsOf(path: string): string[] {
  const steps: string[] = []
  const text = path.trim().replace(/^\$/, '')
  for (STEP.lastIndex = 0; STEP.lastIndex < text.length; ) {
    const step = STEP.exec(text)
    if (step === null)
      throw invalidRequest(`Not a JSON path with names, [index] and [*] only: ${path.slice(0, 200)}`)
    const [, name, index, single, double] = step
    steps.push(name ?? single ?? double ?? index ?? '')
    if (steps.length > STEPS_MAX) throw invalidRequest(`A JSON path has at most ${STEPS_MAX} steps`)
  }
  return steps
}

function* below(value: unknown, steps: readonly string[], at: number): Generator<unknown> {
  if (at === steps.length) yield value
  else for (const child of childrenAt(value, steps[at] ?? '')) yield* below(child, steps, at + 1)
}

function childrenAt(value: unknown, step: string): unknown[] {
  if (step === '*') return Array.isArray(value) ? value : isRecord(value) ? Object.values(value) : []
  if (Array.isArray(value))
    return /^\d+$/.test(step) && Number(step) < value.length ? [value[Number(step)]] : []
  return isRecord(value) && Object.hasOwn(value, step) ? [value[step]] : []
}
