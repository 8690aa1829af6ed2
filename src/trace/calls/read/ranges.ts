import type { Params } from '../../query-language/params.ts'

/** A call of a list that an id scan has found. */
export interface FoundCall {
  id: string
  /** Of its payloads. */
  bytes: number
  /** Microseconds since 1970. */
  startedAt: number
}

/**
 * Neighbours in a list by start time, named by the first and the last of them: parsing and looking up thousands of ids
 * takes the database longer than reading their rows.
 */
export interface CallRange {
  first: FoundCall
  last: FoundCall
  /** By id, the order in which the table is read. */
  ids: IdRange
}

export interface IdRange {
  least: string
  greatest: string
}

/** A range with the list's own part of it. */
export interface MeasuredRange extends CallRange {
  calls: number
  /** Of their payloads. */
  bytes: number
}

/** The range of some calls in their order; undefined for none. */
export function rangeOf(calls: Iterable<FoundCall>): MeasuredRange | undefined {
  let range: MeasuredRange | undefined
  for (const call of calls) {
    range ??= { first: call, last: call, ids: { least: call.id, greatest: call.id }, calls: 0, bytes: 0 }
    range.last = call
    range.calls++
    range.bytes += call.bytes
    if (call.id < range.ids.least) range.ids.least = call.id
    if (call.id > range.ids.greatest) range.ids.greatest = call.id
  }
  return range
}

/** SQL that is true for the ids of a range. */
export function idRangeSql({ least, greatest }: IdRange, params: Params): string {
  return `id BETWEEN ${params.bind(least, 'String')} AND ${params.bind(greatest, 'String')}`
}

/** SQL that is true for what lies within a range. */
export function callRangeSql({ first, last, ids }: CallRange, params: Params): string {
  const isRising =
    first.startedAt < last.startedAt || (first.startedAt === last.startedAt && first.id <= last.id)
  const key = ({ startedAt, id }: FoundCall): string =>
    `(fromUnixTimestamp64Micro(${params.bind(startedAt, 'Int64')}, 'UTC'), ${params.bind(id, 'String')})`
  const [from, to] = isRising ? [first, last] : [last, first]
  return `${idRangeSql(ids, params)} AND (started_at, id) >= ${key(from)} AND (started_at, id) <= ${key(to)}`
}
