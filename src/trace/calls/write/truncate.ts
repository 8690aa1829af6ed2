import { withoutLoneSurrogates } from '../../../lone-surrogates.ts'
import { TRUNCATED_BYTES, TRUNCATED_ELEMENTS } from '../sql/truncated.ts'

/**
 * The truncated copy of a valid JSON text, as `sql/truncated.ts` describes it; the same text where nothing is
 * truncated.
 */
export function truncate(json: string): string {
  const text = withoutLoneSurrogates(json)
  if (text !== json) return rewritten(text, 'whole').text
  const { text: truncated, hasLargeNumbers } = rewritten(text, 'truncated')
  return hasLargeNumbers ? rewritten(text, 'whole').text : truncated
}

const QUOTE = 0x22
const COMMA = 0x2c
const MINUS = 0x2d
const ZERO = 0x30
const NINE = 0x39
const OPEN_ARRAY = 0x5b
const BACKSLASH = 0x5c
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** A text whose numbers the database has types for, and whether there were others. */
function rewritten(json: string, length: 'truncated' | 'whole'): { text: string; hasLargeNumbers: boolean } {
  let hasLargeNumbers = false
  const kept: string[] = []
  /** Start of the text that is neither copied nor skipped yet. */
  let from = 0
  /** Of each array and object around: its elements so far, NaN for an object, which keeps all its members. */
  const around: number[] = []
  /** Depth of the array whose remaining elements are skipped; 0 for none. */
  let leftOut = 0
  for (let at = 0; at < json.length; at++) {
    const character = json.charCodeAt(at)
    if (character === QUOTE) {
      const end = endOfString(json, at + 1)
      const cut = length === 'truncated' && leftOut === 0 ? cutOfString(json, at + 1, end) : end
      if (cut < end) {
        kept.push(json.slice(from, cut))
        from = end
      }
      at = end
    } else if (character <= NINE && character >= ZERO) {
      const end = endOfNumber(json, at)
      if (isTooLarge(json, at, end)) {
        hasLargeNumbers = true
        const start = json.charCodeAt(at - 1) === MINUS ? at - 1 : at
        kept.push(json.slice(from, start), `"${json.slice(start, end)}"`)
        from = end
      }
      at = end - 1
    } else if (character === OPEN_ARRAY || character === OPEN_OBJECT) {
      around.push(character === OPEN_ARRAY ? 1 : Number.NaN)
    } else if (character === CLOSE_ARRAY || character === CLOSE_OBJECT) {
      if (around.length === leftOut) {
        from = at
        leftOut = 0
      }
      around.pop()
    } else if (character === COMMA && length === 'truncated' && leftOut === 0) {
      const elements = (around.pop() ?? 0) + 1
      around.push(elements)
      if (elements > TRUNCATED_ELEMENTS) {
        kept.push(json.slice(from, at))
        leftOut = around.length
      }
    }
  }
  return { text: kept.length === 0 ? json : kept.join('') + json.slice(from), hasLargeNumbers }
}

/** Where a number ends whose first digit is at `start`. */
function endOfNumber(json: string, start: number): number {
  let end = start + 1
  while (NUMBER_PARTS.includes(json[end] ?? ' ')) end++
  return end
}

const NUMBER_PARTS = '0123456789.eE+-'

/** Shorter numbers have neither 19 digits nor an exponent of three. */
const LARGE_CHARS_MIN = 5

/** Whether the database may have no type for a number without its sign: UInt64 has up to 20 digits, Int64 19. */
function isTooLarge(json: string, start: number, end: number): boolean {
  if (end - start < LARGE_CHARS_MIN) return false
  const digits = json.slice(start, end)
  return (digits.length >= 19 && /^\d+$/.test(digits)) || !Number.isFinite(Number(digits))
}

/** Where the closing quote of a string is whose text begins at `start`. */
function endOfString(json: string, start: number): number {
  let end = json.indexOf('"', start)
  while (isEscaped(json, end)) end = json.indexOf('"', end + 1)
  return end
}

function isEscaped(json: string, at: number): boolean {
  let backslashes = 0
  while (json.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes++
  return backslashes % 2 === 1
}

/** As many characters as are kept, none of them split: an escape is one unit, and a surrogate pair stays together. */
const BEGINNING = new RegExp(
  String.raw`(?:\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.|[^\\]){${TRUNCATED_BYTES}}`,
  'uy',
)

/** Characters of a number, escaped or not. */
const NUMBER_LIKE = /^(?:[\d\s+\-.eE]|\\u00[2346][\da-fA-F])*$/

/** Where a string's text, from `start` to `end`, is cut; `end` where it is kept whole. */
function cutOfString(json: string, start: number, end: number): number {
  if (end - start <= TRUNCATED_BYTES) return end
  BEGINNING.lastIndex = start
  const cut = BEGINNING.test(json) ? BEGINNING.lastIndex : end
  return cut < end && !NUMBER_LIKE.test(json.slice(start, end)) ? cut : end
}
