import type { SortedPage } from '../query-language/page.ts'
import type { Params } from '../query-language/params.ts'
import type { Selection } from './selection.ts'

/** A call of a list, before its payloads are read. */
export interface FoundCall {
  id: string
  /** Of its payloads. */
  bytes: number
  /** Microseconds since 1970. */
  startedAt: number
}

/**
 * Neighbours in a list by start time: told by the first and the last of them, since thousands of ids take the database
 * longer to parse and to look up than to read what they are of.
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

/** Whether neighbours in a list are all the calls between them that its filter selects. */
export function isInRanges(selection: Selection, { sort_by }: SortedPage): boolean {
  const [first, second] = sort_by
  const isByStart = first?.field === 'started_at' && second?.field === 'id'
  return isByStart && first.direction === second.direction && selection.query == null
}

/** The range of some calls in their order; undefined for none. */
export function rangeOf(
  calls: Iterable<FoundCall>,
): (CallRange & { calls: number; bytes: number }) | undefined {
  let range: (CallRange & { calls: number; bytes: number }) | undefined
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
  const place = ({ startedAt, id }: FoundCall): string =>
    `(fromUnixTimestamp64Micro(${params.bind(startedAt, 'Int64')}, 'UTC'), ${params.bind(id, 'String')})`
  const [from, to] = isRising ? [first, last] : [last, first]
  return `${idRangeSql(ids, params)} AND (started_at, id) >= ${place(from)} AND (started_at, id) <= ${place(to)}`
}
