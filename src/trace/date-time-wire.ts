import { z } from 'zod'
import { isoMicros } from '../time.ts'

/** The database stores times between these; the first stands for none. */
export const FIRST = '1900-01-02'
export const LAST = '2299-12-31'

/** The error for a text that is not a date-time. */
export const INVALID = 'Input should be a valid datetime'
export const INVALID_TYPE = 'datetime_parsing'

/** A date-time in a body, as the client's own text. */
export const DateTimeText = z
  .string()
  .refine((text) => storedTime(text) !== undefined, { error: INVALID, params: { type: INVALID_TYPE } })
  .meta({ format: 'date-time' })

/** A date-time as UTC with microseconds; undefined for a text that is not one, or that the database cannot store. */
export function storedTime(text: string): string | undefined {
  const iso = isoMicros(text)
  return iso !== undefined && iso > FIRST && iso < LAST ? iso : undefined
}
