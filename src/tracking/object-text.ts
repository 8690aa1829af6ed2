import { invalidRequest } from '../errors.ts'
import { JSON_DEPTH_MAX } from '../json/json-limits.ts'
import { parseLine } from './metrics/json-lines.ts'

/** Characters of a config, a summary or metadata. Wire: clients themselves leave out a summary of more than 10 MB. */
export const OBJECT_CHARS_MAX = 10 * 1024 * 1024

/** A text that is a JSON object. @throws 400 for any other, and for one that is too long or too deep. */
export function objectText(what: string, text: string): string {
  if (text.length > OBJECT_CHARS_MAX)
    throw invalidRequest(`The ${what} has ${text.length} characters; it may have ${OBJECT_CHARS_MAX}`)
  if (parseLine(text) === undefined)
    throw invalidRequest(`The ${what} is a JSON object of at most ${JSON_DEPTH_MAX} levels`)
  return text
}
