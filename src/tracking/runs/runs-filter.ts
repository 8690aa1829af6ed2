import { z } from 'zod'
import { recordOf } from '../../bounded-wire.ts'
import { invalidRequest } from '../../errors.ts'
import { checkListed } from '../listed-names.ts'
import type { RunsCondition, RunsFilter } from './queries.ts'
import { silentSince } from './run-row.ts'

/** Wire: names of fields in filters, in both of the client's spellings. */
const COLUMNS = {
  name: 'name',
  display_name: 'display_name',
  displayName: 'display_name',
  group: 'group_name',
  job_type: 'job_type',
  jobType: 'job_type',
} as const

const SUPPORTED = `${Object.keys(COLUMNS).join(', ')}, state and tags by equality and $in, createdAt by $gt, $gte, $lt and $lte, and by $and and $or of these`

/** Conditions of one filter: each is a part of a statement. */
const CONDITIONS_MAX = 100

const Conditions = recordOf(z.unknown(), CONDITIONS_MAX)
const Listed = z.union([
  z.string().transform((text) => [text]),
  z.strictObject({ $in: z.array(z.string()) }).transform(({ $in }) => $in),
])
const time = z.coerce
  .date()
  .transform((date) => date.toISOString())
  .optional()
const Times = z.strictObject({ $gt: time, $gte: time, $lt: time, $lte: time })
const COMPARISONS = { $gt: '>', $gte: '>=', $lt: '<', $lte: '<=' } as const

/**
 * Reads the filter of a listing, in MongoDB's query language.
 * @throws 400 for anything but what is supported, and for too many conditions or values.
 */
export function runsFilter(project: { entity: string; project: string }, text: string | null): RunsFilter {
  const values: string[] = []
  let conditions = 0

  function allOf(filter: unknown): RunsCondition {
    const members = Object.entries(read(Conditions, filter))
    conditions += 1 + members.length
    if (conditions > CONDITIONS_MAX)
      throw invalidRequest(`A filter of runs has ${CONDITIONS_MAX} conditions at most`, 'filters')
    return { all: members.map(([name, value]) => conditionOf(name, value)) }
  }

  function conditionOf(name: string, value: unknown): RunsCondition {
    if (name === '$and') return { all: read(z.array(z.unknown()), value).map(allOf) }
    if (name === '$or') return { any: read(z.array(z.unknown()), value).map(allOf) }
    if (name === 'createdAt' || name === 'created_at') return { all: timesOf(read(Times, value)) }
    if (name !== 'state' && name !== 'tags' && !isColumn(name))
      throw invalidRequest(`Runs can be filtered by ${SUPPORTED}, not by ${name}`, 'filters')
    const listed = read(Listed, value)
    values.push(...listed)
    checkListed(values)
    if (name === 'state') return { any: listed.map(inState) }
    if (name === 'tags') return { any: listed.map((tag) => ({ tag })) }
    return { column: COLUMNS[name], values: listed }
  }

  return { ...project, condition: allOf(json(text)) }
}

/** @throws 400 for what a filter does not have here */
function read<Value>(schema: z.ZodType<Value>, value: unknown): Value {
  const { data, success } = schema.safeParse(value)
  if (!success) throw invalidRequest(`Runs can be filtered by ${SUPPORTED} only`, 'filters')
  return data
}

function timesOf(times: z.output<typeof Times>): RunsCondition[] {
  return (['$gt', '$gte', '$lt', '$lte'] as const).flatMap((name) => {
    const time = times[name]
    return time === undefined ? [] : [{ column: 'created_at', is: COMPARISONS[name], time }]
  })
}

/** A crashed run is a running one that stopped sending. */
function inState(state: string): RunsCondition {
  if (state !== 'running' && state !== 'crashed') return { column: 'state', values: [state] }
  const is = state === 'running' ? '>=' : '<'
  return {
    all: [
      { column: 'state', values: ['running'] },
      { column: 'heartbeat_at', is, time: silentSince() },
    ],
  }
}

function isColumn(name: string): name is keyof typeof COLUMNS {
  return Object.hasOwn(COLUMNS, name)
}

function json(text: string | null): unknown {
  if (text === null || text === '') return {}
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
