import { endOfString } from '../json/lossless-json.ts'

/**
 * The beginning of a JSON object or array. It is tested first, since most texts are not JSON and parsing them takes
 * microseconds.
 */
const BEGINNING = /^\s*(?:\{\s*["}]|\[\s*["{[\]\d\-tfnNI])/

/**
 * What Python's `json.dumps` writes for numbers that JSON has not, and where texts begin, which may have the same
 * words.
 */
const TEXT_OR_NOT_A_NUMBER = /"|NaN|-?Infinity/g

/** A byte order mark, with which some programs on Windows begin a file. */
const MARK = '\uFEFF'

/** Whether a text begins as JSON objects and arrays do, with or without a byte order mark. */
export function beginsLikeJson(text: string): boolean {
  return BEGINNING.test(text)
}

/** Whether a text as a whole is a JSON object or array, as JSON has it or as Python writes it. */
export function isJson(text: string): boolean {
  if (!beginsLikeJson(text)) return false
  const json = text.slice(startOf(text))
  return parses(json) || (/NaN|Infinity/.test(json) && parses(withNulls(json)))
}

/** Where the JSON in a text may begin: behind its byte order mark. */
export function startOf(text: string): number {
  return text.startsWith(MARK) ? MARK.length : 0
}

function parses(json: string): boolean {
  try {
    JSON.parse(json)
    return true
  } catch {
    return false
  }
}

/** The text with null in place of NaN and the infinities; nothing where a string in it has no end. */
function withNulls(text: string): string {
  let json = ''
  let from = 0
  TEXT_OR_NOT_A_NUMBER.lastIndex = 0
  for (;;) {
    const found = TEXT_OR_NOT_A_NUMBER.exec(text)
    if (found === null) return json + text.slice(from)
    if (found[0] === '"') {
      const end = endOfString(text, found.index)
      if (end === 0) return ''
      TEXT_OR_NOT_A_NUMBER.lastIndex = end
    } else {
      json += `${text.slice(from, found.index)}null`
      from = TEXT_OR_NOT_A_NUMBER.lastIndex
    }
  }
}
