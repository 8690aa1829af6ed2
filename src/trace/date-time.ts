import { isoMicros, isoOfSeconds } from '../time.ts'
import { ValidationFailure } from '../wire/validation-error.ts'
import { FIRST, INVALID, INVALID_TYPE, LAST, storedTime } from './date-time-wire.ts'

/** Characters of a text that is no date-time, which are echoed. */
const INPUT_CHARS_MAX = 64

const [FIRST_SECONDS, LAST_SECONDS] = [Date.parse(FIRST) / 1000, Date.parse(LAST) / 1000]

/**
 * A date-time in a body, as UTC with microseconds; `path` is where it stands there.
 * @throws 422: wire: clients send the halves of a batch again on 422, and drop the whole of it on 400.
 */
export function dateTimeAt(path: readonly (string | number)[], text: string): string {
  const iso = storedTime(text)
  if (iso !== undefined) return iso
  const input = text.slice(0, INPUT_CHARS_MAX)
  throw new ValidationFailure([
    { type: INVALID_TYPE, loc: ['body', ...path.map(String)], msg: INVALID, input },
  ])
}

/**
 * The value that a query compares date-times with, in ISO 8601; undefined for a text that is not a date-time. Wire: a
 * number is Unix seconds, a text an ISO date or date-time in UTC. Times outside the storable range become its nearest
 * end, which compares the same.
 */
export function comparedDateTime(literal: number | string): string | undefined {
  if (typeof literal === 'number')
    return isoOfSeconds(Math.min(Math.max(literal, FIRST_SECONDS), LAST_SECONDS))
  const iso = isoMicros(literal)
  if (iso === undefined || (iso > FIRST && iso < LAST)) return iso
  return iso > FIRST ? LAST : FIRST
}

/** SQL for the time that a number of Unix seconds means, as {@link comparedDateTime} reads it. */
export function secondsAsDateTimeSql(seconds: string): string {
  // Whole literals would be integers, which have no type in common with a double.
  const bounded = `least(greatest(${seconds}, ${FIRST_SECONDS}.0), ${LAST_SECONDS}.0)`
  return `fromUnixTimestamp64Micro(accurateCastOrNull(round(${bounded} * 1000000), 'Int64'), 'UTC')`
}
