import { withoutLoneSurrogates } from '../../../json/lone-surrogates.ts'
import { endOfString } from '../../../json/lossless-json.ts'
import { TRUNCATED_BYTES, TRUNCATED_ELEMENTS } from '../sql/truncated.ts'

/**
 * The truncated copy of a valid JSON text, as `sql/truncated.ts` describes it; the same text where nothing is
 * truncated.
 */
export function truncate(json: string): string {
  const text = withoutLoneSurrogates(json)
  return (text === json ? shortened(json) : undefined) ?? withoutLargeNumbers(text)
}

const QUOTE = 0x22
const COMMA = 0x2c
const MINUS = 0x2d
const ZERO = 0x30
const NINE = 0x39
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/**
 * A text with its long strings and arrays cut; undefined where it has a number that the database may have no type for.
 */
function shortened(json: string): string | undefined {
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
      const end = endOfString(json, at) - 1
      const cut = leftOut === 0 ? cutOfString(json, at + 1, end) : end
      if (cut < end) {
        kept.push(json.slice(from, cut))
        from = end
      }
      at = end
    } else if (isDigit(character)) {
      const end = endOfNumber(json, at)
      if (isTooLarge(json, at, end)) return undefined
      at = end - 1
    } else if (character === OPEN_ARRAY || character === OPEN_OBJECT) {
      around.push(character === OPEN_ARRAY ? 1 : Number.NaN)
    } else if (character === CLOSE_ARRAY || character === CLOSE_OBJECT) {
      if (around.length === leftOut) {
        from = at
        leftOut = 0
      }
      around.pop()
    } else if (character === COMMA && leftOut === 0) {
      const elements = (around.pop() ?? 0) + 1
      around.push(elements)
      if (elements > TRUNCATED_ELEMENTS) {
        kept.push(json.slice(from, at))
        leftOut = around.length
      }
    }
  }
  return kept.length === 0 ? json : kept.join('') + json.slice(from)
}

/** A text in which numbers that the database may have no type for are strings of the same characters. */
function withoutLargeNumbers(json: string): string {
  const kept: string[] = []
  let from = 0
  for (let at = 0; at < json.length; at++) {
    const character = json.charCodeAt(at)
    if (character === QUOTE) at = endOfString(json, at) - 1
    else if (isDigit(character)) {
      const end = endOfNumber(json, at)
      if (isTooLarge(json, at, end)) {
        const start = json.charCodeAt(at - 1) === MINUS ? at - 1 : at
        kept.push(json.slice(from, start), `"${json.slice(start, end)}"`)
        from = end
      }
      at = end - 1
    }
  }
  return kept.join('') + json.slice(from)
}

function isDigit(character: number): boolean {
  return character >= ZERO && character <= NINE
}

const NUMBER_PARTS = /[\d.eE+-]*/y

/** Where a number ends whose first digit is at `start`. */
function endOfNumber(json: string, start: number): number {
  NUMBER_PARTS.lastIndex = start
  NUMBER_PARTS.test(json)
  return NUMBER_PARTS.lastIndex
}

/** UInt64 has up to 20 digits, Int64 19. */
const LARGE_DIGITS_MIN = 19

/** Whether the database may have no type for a number without its sign. */
function isTooLarge(json: string, start: number, end: number): boolean {
  const digits = json.slice(start, end)
  if (digits.length < LARGE_DIGITS_MIN && !/e/i.test(digits)) return false
  return (digits.length >= LARGE_DIGITS_MIN && /^\d+$/.test(digits)) || !Number.isFinite(Number(digits))
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
