import { isRecord } from '../../json/is-record.ts'
import { JsonNumber } from '../../json/lossless-json.ts'
import { isoOfSeconds } from '../../time.ts'
import { type Line, textOf } from './json-lines.ts'

/** The kind of metrics: logged by the program, or of its machine. */
export type Stream = 'history' | 'system'

/** One value of a key at a step, as a row of `run_metrics`. */
export interface MetricRow {
  project_id: string
  run_id: string
  stream: Stream
  key: string
  step: number
  value: number | null
  /** The value's text where a number is not enough. */
  json: string | null
  /** ISO 8601 with microseconds. */
  time: string
}

/** Restored from the row's own columns when a line is read. */
export const FROM_COLUMNS: ReadonlySet<string> = new Set(['_step', '_timestamp'])

/** Nesting of values beyond this stays one value. */
const DEPTH_MAX = 8

/** The values of one line, nested ones under keys joined by dots. Wire: an object with `_type` is one value. */
export function* rowsOfLine(
  line: Line,
  place: Pick<MetricRow, 'project_id' | 'run_id' | 'stream' | 'step' | 'time'>,
): Generator<MetricRow> {
  for (const { key, value } of leavesOf(line, '', 1)) yield { ...place, key, ...columnsOf(value) }
}

function* leavesOf(line: Line, prefix: string, depth: number): Generator<{ key: string; value: unknown }> {
  for (const [name, value] of Object.entries(line)) {
    if (prefix === '' && FROM_COLUMNS.has(name)) continue
    const key = prefix + name
    if (isNested(value) && depth < DEPTH_MAX) yield* leavesOf(value, `${key}.`, depth + 1)
    else yield { key, value }
  }
}

function isNested(value: unknown): value is Line {
  return isRecord(value) && !('_type' in value) && !(value instanceof JsonNumber)
}

function columnsOf(value: unknown): Pick<MetricRow, 'value' | 'json'> {
  if (typeof value === 'number' && Number.isFinite(value)) return { value, json: null }
  if (value instanceof JsonNumber) return { value: Number(value.source), json: value.source }
  return { value: typeof value === 'boolean' ? Number(value) : null, json: textOf(value) }
}

/** Beyond every step, so that the end of each range of steps is an exact number. */
export const STEP_END = Number.MAX_SAFE_INTEGER

/** The step of a history line; a line of another kind counts from the first. */
export function stepOf(line: Line, index: number): number {
  const step = line['_step']
  return typeof step === 'number' && Number.isSafeInteger(step) && step < STEP_END ? step : index
}

/** When a line was logged; undefined when it does not say. Wire: `_timestamp` is in seconds since 1970. */
export function timeOf(line: Line): string | undefined {
  const seconds = line['_timestamp']
  if (typeof seconds !== 'number' || !(seconds >= 0 && seconds < SECONDS_MAX)) return undefined
  return isoOfSeconds(seconds)
}

/** The year 2200, before the end of the database's times. */
const SECONDS_MAX = 7_258_118_400
