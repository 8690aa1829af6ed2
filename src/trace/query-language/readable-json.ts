/**
 * JSON texts may hold what the database's parser refuses, and the whole text with it: half a surrogate pair, an integer
 * of 2^64 or more, a number beyond the range of Float64.
 */

/** An escaped backslash or a whole pair. */
const WHOLE = String.raw`\\\\|\\u[dD][89abAB]..\\u[dD][c-fC-F]..`

/** Any half of a pair, where no whole one was found. */
const HALF = String.raw`\\u[dD][89a-fA-F]..`

const STRING = String.raw`"(?:[^"\\]|\\.)*"`

/** UInt64 has up to 20 digits, Int64 19; Float64 has exponents of up to three. */
const LARGE = String.raw`-?\d{19,}(?:\.\d+)?(?:[eE][+-]?\d+)?|-?\d+(?:\.\d+)?[eE]\+?\d{3,}`

/** Bytes that no JSON text has, to mark places in it. */
const BEGIN = '\x01'
const END = '\x02'

/**
 * SQL for a JSON text that the database can parse: the same text where it can parse that one. Otherwise half a
 * surrogate pair is U+FFFD, and a large number a string of the same characters, as in truncated copies.
 * @param text SQL of it, which is repeated
 */
export function readableJson(text: string): string {
  // RE2 knows no lookahead. What is to be kept is matched as well, and its marks are removed afterwards.
  const halves = replaceAll(text, `(${WHOLE})|${HALF}`, `\\1${BEGIN}`)
  const withoutHalves = replacing(
    replaceAll(halves, `(${WHOLE})${BEGIN}`, String.raw`\1`),
    BEGIN,
    String.raw`\ufffd`,
  )
  const numbers = replaceAll(withoutHalves, `(${STRING})|(${LARGE})`, String.raw`\1${BEGIN}\2${END}`)
  const quoted = [BEGIN, END].reduce(
    (sql, mark) => replacing(sql, mark, '"'),
    replacing(numbers, BEGIN + END, ''),
  )
  return `if(isValidJSON(${text}), ${text}, ${quoted})`
}

function replaceAll(sql: string, pattern: string, by: string): string {
  return `replaceRegexpAll(${sql}, ${literal(pattern)}, ${literal(by)})`
}

function replacing(sql: string, text: string, by: string): string {
  return `replaceAll(${sql}, ${literal(text)}, ${literal(by)})`
}

function literal(text: string): string {
  return `'${text.replaceAll('\\', '\\\\')}'`
}
