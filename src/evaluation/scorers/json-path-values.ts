import { invalidRequest } from '../../errors.ts'
import { isRecord } from '../../is-record.ts'

const STEP = /\.?([\w-]+)|\[(\d+|\*)\]|\[(?:'([^']*)'|"([^"]*)")\]/y

/**
 * The values at a JSON path: `$.a.b[0]`, `a['b'][*].c`; none where nothing is.
 * @throws 400 for what is no such path.
 */
export function valuesAtPath(root: unknown, path: string): unknown[] {
  let values = [root]
  const text = path.trim().replace(/^\$/, '')
  for (STEP.lastIndex = 0; STEP.lastIndex < text.length; ) {
    const step = STEP.exec(text)
    if (step === null) throw invalidRequest(`Not a JSON path with names, [index] and [*] only: ${path}`)
    const [, name, index, single, double] = step
    values = values.flatMap((value) => below(value, name ?? single ?? double ?? index ?? ''))
  }
  return values
}

function below(value: unknown, step: string): unknown[] {
  if (step === '*') return Array.isArray(value) ? value : isRecord(value) ? Object.values(value) : []
  if (Array.isArray(value))
    return /^\d+$/.test(step) && Number(step) < value.length ? [value[Number(step)]] : []
  return isRecord(value) && Object.hasOwn(value, step) ? [value[step]] : []
}
