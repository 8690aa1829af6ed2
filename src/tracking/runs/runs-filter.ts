import { z } from 'zod'
import { invalidRequest } from '../../errors.ts'
import { recordOf } from '../../wire/bounded-wire.ts'
import { checkListed } from '../listed-names.ts'
import { RUN_PATHS, type RunPath, runPath } from './run-paths.ts'
import type { RunsCondition } from './scan-queries.ts'

/** Conditions of one filter. */
const CONDITIONS_MAX = 100

/** Levels of one filter: people write three. */
const DEPTH_MAX = 20

/** Characters of a pattern, which runs in a thread with a limit of time. */
const PATTERN_CHARS_MAX = 1_000

/** A filter of runs, checked. */
export interface RunsFilter {
  /** In MongoDB's query language, over what `match-runs.ts` makes of a run. */
  criteria: RunsCriteria
  /** What must hold of the columns for the filter to hold: it reduces what is read. */
  narrowed: RunsCondition[]
}

export type RunsCriteria = Record<string, unknown>

const Parts = z.array(z.unknown())
const Conditions = recordOf(z.unknown(), CONDITIONS_MAX)
const Plain = z.union([z.string(), z.number(), z.boolean(), z.null()])
/** Its values are counted before they are read. */
const Listed = z.array(z.unknown())
const Comparisons = z
  .strictObject({
    $eq: Plain.optional(),
    $ne: Plain.optional(),
    $gt: Plain.optional(),
    $gte: Plain.optional(),
    $lt: Plain.optional(),
    $lte: Plain.optional(),
    $in: Listed.optional(),
    $nin: Listed.optional(),
    $exists: z.boolean().optional(),
    $regex: z.string().max(PATTERN_CHARS_MAX).optional(),
    $options: z
      .string()
      .regex(/^[ims]*$/)
      .optional(),
    $not: z.unknown().optional(),
  })
  .refine((comparisons) => Object.keys(comparisons).length > 0)
type Comparisons = z.output<typeof Comparisons>

const SUPPORTED = `Runs can be filtered by ${RUN_PATHS}, with ${Object.keys(Comparisons.shape).join(', ')}, $and, $or and $nor`

/** Columns by which the database may already leave out runs. */
const NARROWING = ['name', 'display_name', 'group_name', 'job_type'] as const
const TIME_COMPARISONS = { $gt: '>', $gte: '>=', $lt: '<', $lte: '<=' } as const

/**
 * Reads the filter of a listing, in MongoDB's query language; undefined where it takes all runs.
 * @throws 400 for anything but what is supported, and for too many conditions or values.
 */
export function runsFilter(text: string | null): RunsFilter | undefined {
  let conditions = 0
  const listed: unknown[] = []

  function criteriaOf(filter: unknown, depth = 0): RunsCriteria {
    const members = Object.entries(read(Conditions, filter))
    conditions += 1 + members.length
    if (conditions > CONDITIONS_MAX)
      throw invalidRequest(`A filter of runs has ${CONDITIONS_MAX} conditions at most`, 'filters')
    checkDepth(depth)
    return allOf(members.map(([name, value]) => criterionOf(name, value, depth)))
  }

  function criterionOf(name: string, value: unknown, depth: number): RunsCriteria {
    if (name === '$and' || name === '$or' || name === '$nor') {
      const parts = read(Parts, value).map((part) => criteriaOf(part, depth + 1))
      if (name === '$and') return allOf(parts)
      if (parts.length === 0) throw invalidRequest(`${name} has no conditions`, 'filters')
      return { [name]: parts }
    }
    const path = runPath(name)
    if (path === undefined) throw invalidRequest(`${SUPPORTED}, not by ${name}`, 'filters')
    return { [path.path]: comparisonsOf(value, path, depth) }
  }

  function comparisonsOf(value: unknown, path: RunPath, depth: number): Record<string, unknown> {
    checkDepth(depth)
    const short = Plain.safeParse(value)
    const { $not, ...comparisons } = read(Comparisons, short.success ? { $eq: short.data } : value)
    checkPattern(comparisons)
    const values = [...(comparisons.$in ?? []), ...(comparisons.$nin ?? [])]
    listed.push(...values)
    checkListed(listed)
    for (const one of values) read(Plain, one)
    return {
      ...(path.isTime ? withTimes(comparisons) : comparisons),
      ...($not !== undefined && { $not: comparisonsOf($not, path, depth + 1) }),
    }
  }

  const criteria = criteriaOf(json(text))
  return Object.keys(criteria).length === 0 ? undefined : { criteria, narrowed: narrowedBy(criteria) }
}

function allOf(parts: RunsCriteria[]): RunsCriteria {
  const all = parts.filter((part) => Object.keys(part).length > 0)
  return all.length > 1 ? { $and: all } : (all[0] ?? {})
}

function checkDepth(depth: number): void {
  if (depth > DEPTH_MAX) throw invalidRequest(`A filter of runs has ${DEPTH_MAX} levels at most`, 'filters')
}

/** @throws 400 for what a filter does not have here */
function read<Value>(schema: z.ZodType<Value>, value: unknown): Value {
  const { data, success } = schema.safeParse(value)
  if (!success) throw invalidRequest(SUPPORTED, 'filters')
  return data
}

function checkPattern({ $regex, $options }: Comparisons): void {
  if ($regex === undefined && $options !== undefined)
    throw invalidRequest('$options are those of a $regex', 'filters')
  try {
    new RegExp($regex ?? '', $options)
  } catch {
    throw invalidRequest(`This is no regular expression: ${$regex}`, 'filters')
  }
}

/** The comparisons with times as they are stored. @throws 400 for what is no time */
function withTimes(comparisons: Comparisons): Comparisons {
  const inIso = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inIso)
    if (typeof value === 'boolean' || value === null) return value
    const date = new Date(String(value))
    if (Number.isNaN(date.getTime())) throw invalidRequest(`This is no time: ${value}`, 'filters')
    return date.toISOString()
  }
  return Object.fromEntries(Object.entries(comparisons).map(([operator, value]) => [operator, inIso(value)]))
}

/** What the conditions that must all hold say of columns. */
function narrowedBy(filter: RunsCriteria): RunsCondition[] {
  return Object.entries(filter).flatMap(([path, value]) => {
    if (path === '$and') return (value as RunsCriteria[]).flatMap(narrowedBy)
    const { $eq, $in = $eq === undefined ? undefined : [$eq], ...others } = value as Comparisons
    const column = NARROWING.find((one) => one === path)
    if (column !== undefined && $in?.every((one) => typeof one === 'string')) return [{ column, values: $in }]
    if (path !== 'created_at') return []
    return (['$gt', '$gte', '$lt', '$lte'] as const).flatMap((name) => {
      const time = others[name]
      return typeof time === 'string' ? [{ column: path, is: TIME_COMPARISONS[name], time }] : []
    })
  })
}

function json(text: string | null): unknown {
  if (text === null || text === '') return {}
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
