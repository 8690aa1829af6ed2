import { splitPath } from '../../query-language/json-path.ts'
import { readableJson } from '../../query-language/readable-json.ts'
import type { PayloadColumn } from './table.ts'

/**
 * The large payloads are kept a second time as truncated copies, in columns of their own. A truncated copy of a JSON
 * text has the same leaves at the same paths, but of each long string only the beginning, and of each long array only
 * the first elements. The database extracts and compares leaves without reading the prompts and answers that are most
 * of a payload. The results are exact:
 *
 * - a leaf of fewer than {@link TRUNCATED_BYTES} is whole, and a longer one begins with the same bytes, so that
 *   comparing it
 *   with a text of fewer bytes has the same result;
 * - a string of digits is whole however long it is, so that it is the same number.
 *
 * The database can also parse it where it refuses the original: a number too large for its types is a string of the
 * same characters, and half a surrogate pair is U+FFFD. Such a copy is not truncated, so that it stands for the
 * original in all queries ({@link readablePayload}).
 */
const TRUNCATED: ReadonlyMap<string, string> = new Map<PayloadColumn, string>([
  ['inputs', 'inputs_excerpt'],
  ['output', 'output_excerpt'],
])

/**
 * Characters of a string that are kept; they take at least as many bytes, so longer leaves still differ from texts of
 * fewer.
 */
export const TRUNCATED_BYTES = 128

/** Elements of an array that are kept; with their commas they take no fewer bytes. */
export const TRUNCATED_ELEMENTS = 64

/** The column of a payload's truncated copy; undefined where there is none. */
export function truncatedColumn(payload: string): string | undefined {
  return TRUNCATED.get(payload)
}

/** Whether a dotted path may lead into a truncated copy. */
export function mayBeTruncated(path: string): boolean {
  return TRUNCATED.has(splitPath(path)[0] ?? '')
}

/** SQL for a payload, or for its copy where the database cannot parse that one. */
export function readablePayload(payload: PayloadColumn): string {
  const text = `assumeNotNull(${payload})`
  const copy = truncatedColumn(payload)
  return copy === undefined ? readableJson(text) : `if(isValidJSON(${text}), ${text}, assumeNotNull(${copy}))`
}

/**
 * Whether a path below a payload leads to the same leaf in its truncated copy: its keys are whole, and its elements are
 * kept.
 */
export function isInTruncated(steps: readonly string[]): boolean {
  return steps.every(
    (step) => Buffer.byteLength(step) < TRUNCATED_BYTES && !(Number(step) >= TRUNCATED_ELEMENTS),
  )
}
