import { tooLarge } from './errors.ts'

/**
 * Characters of the templates of one question and the values in them: some more than a model's context of a million
 * tokens.
 */
const FILLED_CHARS_MAX = 4 * 1024 * 1024

/** Placeholders in these templates: looking at one takes time, whatever is filled in. */
const PLACEHOLDERS_MAX = 100_000

/**
 * The templates of one question and what is filled in, counted before it is made: a small request can ask for any
 * length.
 */
export interface FilledChars {
  /** Counts a placeholder. @throws 413 */
  placeholder(): void
  /** Whether a value of so many characters still fits. @throws 413 */
  requireRoom(chars: number): void
  /** Counts the characters of a template, or of a value that is about to be filled in. @throws 413 */
  add(chars: number): void
  total(): number
}

export function countFilledChars(): FilledChars {
  let placeholders = 0
  let total = 0

  function requireRoom(chars: number): void {
    if (total + chars > FILLED_CHARS_MAX)
      throw tooLarge(`The messages have more than ${FILLED_CHARS_MAX} characters with what is filled in`)
  }

  return {
    placeholder() {
      if (++placeholders > PLACEHOLDERS_MAX)
        throw tooLarge(`The messages have more than ${PLACEHOLDERS_MAX} placeholders`)
    },
    requireRoom,
    add(chars) {
      requireRoom(chars)
      total += chars
    },
    total: () => total,
  }
}

/**
 * What writes values where placeholders name them: each is made a text once, however often it is filled in.
 * @param textOf the text of a value; what it adds must be at least the strings in it
 */
export function valueTexts(
  values: Record<string, unknown>,
  textOf: (value: unknown) => string,
  filled: FilledChars,
): (name: string) => string {
  const texts = new Map<string, string>()
  return (name) => {
    const known = texts.get(name)
    const text = known ?? textOf(withRoom(values[name], filled))
    if (known === undefined) texts.set(name, text)
    filled.add(text.length)
    return text
  }
}

/** The value, unless its strings alone do not fit: its text is not made then. */
function withRoom(value: unknown, filled: FilledChars): unknown {
  let chars = 0
  const waiting: unknown[] = [value]
  while (waiting.length > 0) {
    const next = waiting.pop()
    chars += typeof next === 'string' ? next.length : 1
    filled.requireRoom(chars)
    if (typeof next !== 'object' || next === null) continue
    for (const [key, member] of Object.entries(next)) {
      if (!Array.isArray(next)) chars += key.length
      waiting.push(member)
    }
  }
  return value
}
