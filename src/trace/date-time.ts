import { ValidationFailure } from '../http/validation-error.ts'
import { isoMicros } from '../time.ts'

/** Characters of a text that is no date-time, which are echoed. */
const INPUT_CHARS_MAX = 64

/** The database knows the times between these; the first means none. */
const FIRST = '1900-01-02'
const LAST = '2299-12-31'

/**
 * A date-time in a body, as UTC with microseconds; `path` is where it stands there.
 * @throws 422: wire: clients send the halves of a batch again on 422, and drop the whole of it on 400.
 */
export function dateTimeAt(path: readonly (string | number)[], text: string): string {
  const iso = isoMicros(text)
  if (iso !== undefined && iso > FIRST && iso < LAST) return iso
  const input = text.slice(0, INPUT_CHARS_MAX)
  const msg = 'Input should be a valid datetime'
  throw new ValidationFailure([{ type: 'datetime_parsing', loc: ['body', ...path], msg, input }])
}

/**
 * What a query compares date-times with, in ISO 8601; undefined for a text that is none. Wire: a number is Unix seconds, a text
 * an ISO date or date-time in UTC. Beyond what is stored, the nearest that is says the same.
 */
export function comparedDateTime(literal: number | string): string | undefined {
  if (typeof literal === 'number') {
    return new Date(Math.min(Math.max(literal * 1000, Date.parse(FIRST)), Date.parse(LAST))).toISOString()
  }
  const iso = isoMicros(literal)
  if (iso === undefined || (iso > FIRST && iso < LAST)) return iso
  return iso > FIRST ? LAST : FIRST
}
