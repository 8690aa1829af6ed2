import { comparedDateTime } from '../../date-time.ts'
import type { Operand, Query } from '../../query-language/wire.ts'

/** A condition on start times, which are ISO 8601 in UTC with microseconds. */
export interface TimeCondition {
  operator: '$gt' | '$gte' | '$lt' | '$lte'
  time: string
}

/** The start times that a query selects, if it has no other conditions; undefined for other queries. */
export function timeConditionsOf(query: Query | null | undefined): TimeCondition[] | undefined {
  if (query == null) return []
  const { $expr } = query
  const operands: readonly Operand[] = '$and' in $expr ? $expr.$and : [$expr]
  const conditions = operands.map(conditionOf)
  const known = conditions.filter((condition) => condition !== undefined)
  return known.length === conditions.length && known.length > 0 ? known : undefined
}

function conditionOf(operand: Operand): TimeCondition | undefined {
  if ('$gt' in operand) return comparison('$gt', operand.$gt)
  if ('$gte' in operand) return comparison('$gte', operand.$gte)
  if ('$lt' in operand) return comparison('$lt', operand.$lt)
  return '$lte' in operand ? comparison('$lte', operand.$lte) : undefined
}

function comparison(
  operator: TimeCondition['operator'],
  [field, value]: readonly [Operand, Operand],
): TimeCondition | undefined {
  if (!('$getField' in field) || field.$getField !== 'started_at' || !('$literal' in value)) return undefined
  const { $literal: literal } = value
  const isTime = typeof literal === 'string' || typeof literal === 'number'
  // Undefined for a text that is no time, which is an error.
  const time = isTime ? comparedDateTime(literal) : undefined
  return time === undefined ? undefined : { operator, time }
}

export function isWithin(startedAt: string, { operator, time }: TimeCondition): boolean {
  switch (operator) {
    case '$gt':
      return startedAt > time
    case '$gte':
      return startedAt >= time
    case '$lt':
      return startedAt < time
    case '$lte':
      return startedAt <= time
  }
}

/** Whether calls that started at a time or earlier cannot meet the condition. */
export function isAfter(startedAt: string, { operator, time }: TimeCondition): boolean {
  return operator === '$gt' ? time >= startedAt : operator === '$gte' && time > startedAt
}
