import sift from 'sift'
import { isRecord } from '../../json/is-record.ts'
import { JsonNumber } from '../../json/lossless-json.ts'
import { parseLine } from '../metrics/json-lines.ts'
import { configValues } from './client-record.ts'
import type { RunsCriteria } from './runs-filter.ts'
import type { ScannedRun } from './scan-queries.ts'

/** Characters of a text by which runs are ordered: those that follow decide nothing. */
const KEY_CHARS_MAX = 200

/** What a run is ordered by; null where the run has no such value. */
export type RunOrderKey = number | string | null

/** A run with its state as clients know it. */
type MatchedRun = Omit<ScannedRun, 'state'> & { state: string }

/** Runs of which some are asked for; all of it is plain data. */
export interface MatchJob {
  runs: MatchedRun[]
  criteria: RunsCriteria
  /** What the found runs are to be ordered by, as `run-paths.ts` has it. */
  orderBy: string | undefined
}

/** The runs for which a filter holds, in the order in which they came. */
export function matchRuns({ runs, criteria, orderBy }: MatchJob): { id: string; key: RunOrderKey }[] {
  const holds = testerOf(criteria)
  return runs.flatMap((run) => {
    const fields = fieldsOf(run)
    return holds(fields) ? [{ id: run.id, key: orderBy === undefined ? null : keyAt(fields, orderBy) }] : []
  })
}

/** A `$where` would run code of the client's, and is not among the operations. */
function testerOf(criteria: RunsCriteria): (fields: unknown) => boolean {
  const { $eq, $ne, $gt, $gte, $lt, $lte, $in, $nin, $exists, $regex, $options, $not, $and, $or, $nor } = sift
  const byValue = { $eq, $ne, $gt, $gte, $lt, $lte, $in, $nin, $exists, $regex, $options, $not }
  return sift.createQueryTester(criteria, { operations: { ...byValue, $and, $or, $nor } })
}

/** A run as filters see it. */
function fieldsOf({ config, summary, tags, ...columns }: MatchedRun): Record<string, unknown> {
  return {
    ...columns,
    tags: JSON.parse(tags),
    ...(config !== undefined && { config: nested(configValues(config)) }),
    ...(summary !== undefined && { summary: nested(parseLine(summary) ?? {}) }),
  }
}

/** Values by path: a name with dots is one too, as clients log those of nested objects. */
function nested(record: Record<string, unknown>): Record<string, unknown> {
  const fields = emptyRecord()
  for (const [name, value] of Object.entries(record)) {
    const names = name.split('.')
    const last = names.pop() ?? name
    let at = fields
    for (const one of names) at = childOf(at, one)
    const child = at[last]
    at[last] = isRecord(child) && isRecord(value) ? Object.assign(child, plainOf(value)) : plainOf(value)
  }
  return fields
}

function childOf(record: Record<string, unknown>, name: string): Record<string, unknown> {
  const present = record[name]
  const child = isRecord(present) ? present : emptyRecord()
  record[name] = child
  return child
}

/** Without a prototype, of which a name could reach into. */
function emptyRecord(): Record<string, unknown> {
  return Object.create(null) as Record<string, unknown>
}

/** A value with numbers alone, which are compared; those of more digits than a number holds are close to it. */
function plainOf(value: unknown): unknown {
  if (value instanceof JsonNumber) return Number(value.source)
  if (Array.isArray(value)) return value.map(plainOf)
  if (!isRecord(value)) return value
  const plain = emptyRecord()
  for (const [name, member] of Object.entries(value)) plain[name] = plainOf(member)
  return plain
}

function keyAt(fields: Record<string, unknown>, path: string): RunOrderKey {
  let at: unknown = fields
  for (const name of path.split('.')) at = isRecord(at) ? at[name] : undefined
  if (typeof at === 'boolean') return Number(at)
  if (typeof at === 'string') return at.slice(0, KEY_CHARS_MAX)
  return typeof at === 'number' && !Number.isNaN(at) ? at : null
}
