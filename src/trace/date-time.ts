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
