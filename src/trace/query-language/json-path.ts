import { notAllowed } from '../../errors.ts'
import type { Params } from './params.ts'

/** Steps of a path into JSON; deeper ones are refused, since each step costs a function call in the database. */
export const STEPS_MAX = 32

/** Splits `a.b\.c.0` into `a`, `b.c`, `0`. @throws 403 for an empty step or too many. */
export function splitPath(path: string): string[] {
  const steps = path.split(/(?<!\\)\./).map((step) => step.replaceAll('\\.', '.'))
  if (steps.length > STEPS_MAX || steps.some((step) => step === ''))
    throw notAllowed(`Field ${path.slice(0, 200)} is not allowed`)
  return steps
}

/** What {@link splitPath} splits into these steps. */
export function joinPath(steps: readonly string[]): string {
  return steps.map((step) => step.replaceAll('.', '\\.')).join('.')
}

/** No array in a payload has more elements. */
const INDEX_MAX = 2 ** 31

function isIndex(step: string): boolean {
  return /^\d+$/.test(step) && Number(step) < INDEX_MAX
}

/**
 * SQL for the leaf at `steps` below a column of JSON text: a string's own text, the JSON text of anything else,
 * NULL for a missing leaf or JSON null. A step of digits is an index where an array stands.
 */
export function jsonLeaf(column: string, steps: readonly string[], params: Pick<Params, 'bind'>): string {
  // An absent document is read as an empty one, which has no leaves; ifNull would copy every document.
  let container = `assumeNotNull(${column})`
  let keys: string[] = []
  const descend = (): string =>
    keys.length === 0 ? container : `JSONExtractRaw(${[container, ...keys].join(', ')})`
  for (const step of steps) {
    const key = params.bind(step, 'String')
    if (!isIndex(step)) {
      keys.push(key)
      continue
    }
    const index = params.bind(Number(step) + 1, 'UInt32')
    // A lambda names the parent, which would otherwise be repeated three times in each further step.
    container = `arrayMap(parent -> if(JSONType(parent) = 'Array', JSONExtractRaw(parent, ${index}),
      JSONExtractRaw(parent, ${key})), [${descend()}])[1]`
    keys = []
  }
  return `JSONExtract(${[container, ...keys].join(', ')}, 'Nullable(String)')`
}
