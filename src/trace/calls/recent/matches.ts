import type { CallsFilter } from '../messages/list-wire.ts'
import { ANY_VERSION, threadsOf, turnsOf } from '../sql/filter.ts'
import type { Selection } from '../sql/selection.ts'
import type { KeptCall } from './kept-call.ts'
import { isWithin, type TimeCondition, timeConditionsOf } from './time-conditions.ts'

/** Each call in memory is compared with each of them. */
const PREFIXES_MAX = 16

/** What selects calls in memory. */
export interface Matcher {
  matches(call: KeptCall): boolean
  times: readonly TimeCondition[]
}

/**
 * The conditions of a selection for calls in memory; undefined for those that take the database: refs and payloads are
 * not searched in memory, and many names are found faster there.
 */
export function matcherOf({ filter, query }: Selection): Matcher | undefined {
  const times = timeConditionsOf(query)
  const isOfFilter = filterMatcher(filter)
  if (times === undefined || isOfFilter === undefined) return undefined
  const isInTime = ({ texts }: KeptCall): boolean =>
    times.every((condition) => isWithin(texts.started_at ?? '', condition))
  return { matches: (call) => isInTime(call) && isOfFilter(call), times }
}

type Condition = (call: KeptCall) => boolean

/** The conditions of `filterSql`, those alone that a filter has: each is checked for all calls in memory. */
function filterMatcher(filter: CallsFilter | null | undefined): Condition | undefined {
  if (filter == null) return () => true
  if (filter.input_refs?.length || filter.output_refs?.length) return undefined
  const conditions: Condition[] = []
  const isIn = (
    values: readonly string[] | null | undefined,
    read: (call: KeptCall) => string | undefined,
  ) => {
    if (values?.length) conditions.push(oneOf(values, read))
  }
  isIn(filter.call_ids, ({ id }) => id)
  isIn(filter.parent_ids, ({ texts }) => texts.parent_id)
  isIn(filter.trace_ids, ({ texts }) => texts.trace_id)
  isIn(filter.wb_user_ids, ({ texts }) => texts.wb_user_id)
  isIn(filter.wb_run_ids, ({ texts }) => texts.wb_run_id)
  const [threads, turns] = [threadsOf(filter), turnsOf(filter)]
  if (threads !== undefined) conditions.push(oneOf(threads, ({ texts }) => texts.thread_id))
  if (turns !== undefined) conditions.push(oneOf(turns, ({ texts }) => texts.turn_id))
  if (filter.trace_roots_only) conditions.push(({ texts }) => !texts.parent_id)
  if (filter.op_names?.length) {
    const isOp = anyVersionOf(filter.op_names)
    if (isOp === undefined) return undefined
    conditions.push(({ texts }) => isOp(texts.op_name ?? ''))
  }
  return (call) => conditions.every((condition) => condition(call))
}

/** Absent values are equal to none, not even to an empty text. */
function oneOf(values: readonly string[], read: (call: KeptCall) => string | undefined): Condition {
  const wanted = new Set(values)
  return (call) => {
    const value = read(call)
    return value !== undefined && value !== '' && wanted.has(value)
  }
}

/** Undefined for too many names that end in {@link ANY_VERSION}. */
function anyVersionOf(names: readonly string[]): ((value: string) => boolean) | undefined {
  const exact = new Set(names)
  const prefixes = names.filter((name) => name.endsWith(ANY_VERSION)).map((name) => name.slice(0, -1))
  if (prefixes.length > PREFIXES_MAX) return undefined
  return (value) => exact.has(value) || prefixes.some((prefix) => value.startsWith(prefix))
}
