import { randomInt } from 'node:crypto'

/** Wire: W&B clients ask for 40 characters after the last dash, and take letters, digits and underscores alone. */
const SECRET_CHARS = 40
const PREFIX_CHARS = 10

const LETTERS_AND_DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

const KEY = new RegExp(`^heddle_([A-Za-z0-9]{${PREFIX_CHARS}})-[A-Za-z0-9]{${SECRET_CHARS}}$`)

/** A new key, `heddle_PREFIX-SECRET`; the secret has 238 bits. */
export function newKeyText(): { key: string; prefix: string } {
  const prefix = randomText(PREFIX_CHARS)
  return { key: `heddle_${prefix}-${randomText(SECRET_CHARS)}`, prefix }
}

/** The part of a key that finds its row; undefined for a text that is no key. */
export function prefixOf(key: string): string | undefined {
  return KEY.exec(key)?.[1]
}

/** A text of letters and digits that no one can guess. */
export function randomText(chars: number): string {
  return Array.from({ length: chars }, () => LETTERS_AND_DIGITS[randomInt(LETTERS_AND_DIGITS.length)]).join(
    '',
  )
}
