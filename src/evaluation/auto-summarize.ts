import { isRecord } from '../json/is-record.ts'
import { JsonNumber } from '../json/lossless-json.ts'
import { floatText } from './evaluation-runs/evaluation-calls.ts'

export interface Summary {
  [name: string]: Summary | JsonNumber | number | null
}

/**
 * Summarizes values of one kind, as the Python client's `auto_summarize` does: the mean of numbers, count and share of
 * true, members of objects one by one, nothing else. An empty object on the outside is a row without a score: it
 * decides nothing, but stays in the denominator of shares. Null where there is nothing to summarize.
 */
export function autoSummarize(values: readonly unknown[]): Summary | null {
  if (values.length === 0) return {}
  const scored = values.filter((value) => !isRecord(value) || Object.keys(value).length > 0)
  return summarize(scored, values.length - scored.length)
}

/** A number that clients know as a float. */
export function float(value: number): JsonNumber {
  return new JsonNumber(floatText(value))
}

function summarize(column: readonly unknown[], unscored: number): Summary | null {
  const values = column.filter((value) => value !== null && value !== undefined)
  const [first] = values
  if (typeof first === 'boolean') {
    const true_count = values.filter(isTruthy).length
    return { true_count, true_fraction: float(true_count / (values.length + unscored)) }
  }
  if (typeof first === 'number') {
    // Python counts True as one, and has no mean of other values.
    const numbers = values.flatMap((value) => (isNumber(value) ? Number(value) : []))
    return { mean: float(numbers.reduce((total, number) => total + number, 0) / numbers.length) }
  }
  return isRecord(first) ? summarizeMembers(values.filter(isRecord), unscored) : null
}

function isNumber(value: unknown): value is number | boolean {
  return typeof value === 'number' || typeof value === 'boolean'
}

/** As in Python, where empty lists and objects are false. */
function isTruthy(value: unknown): boolean {
  return typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : Boolean(value)
}

function summarizeMembers(values: readonly Record<string, unknown>[], unscored: number): Summary | null {
  const summary: Summary = {}
  for (const key of new Set(values.flatMap((value) => Object.keys(value)))) {
    const column = values.map((value) => value[key])
    const member = summarize(column, unscored)
    if (member === null) continue
    // Wire: a member that summarizes to itself, such as `mean`, is not nested once more.
    if (Object.hasOwn(member, key)) Object.assign(summary, member)
    else summary[key] = member
  }
  return Object.keys(summary).length === 0 ? null : summary
}
