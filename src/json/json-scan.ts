/** Finds the ends of JSON tokens in UTF-8 bytes, and checks them as it goes. Positions are of bytes. */

const QUOTE = 0x22
const BACKSLASH = 0x5c
const MINUS = 0x2d
const ZERO = 0x30
const NINE = 0x39

/** 1 for the letters that may follow a backslash, 2 for the one that four digits follow. */
const ESCAPES = new Uint8Array(256)
for (const letter of '"\\/bfnrt') ESCAPES[letter.charCodeAt(0)] = 1
ESCAPES[0x75] = 2

/** The position behind the closing quote of the string whose opening one is at `at`. @throws SyntaxError */
export function endOfString(bytes: Uint8Array, at: number): number {
  let position = at + 1
  for (;;) {
    const byte = bytes[position]
    if (byte === undefined || byte < 0x20) throw unexpected(bytes, position)
    position++
    if (byte === QUOTE) return position
    if (byte === BACKSLASH) position = endOfEscape(bytes, position)
  }
}

function endOfEscape(bytes: Uint8Array, at: number): number {
  const kind = ESCAPES[bytes[at] ?? 0]
  if (kind === 0) throw unexpected(bytes, at)
  if (kind === 1) return at + 1
  for (let digit = at + 1; digit <= at + 4; digit++) if (!isHex(bytes[digit])) throw unexpected(bytes, digit)
  return at + 5
}

function isHex(byte: number | undefined): boolean {
  if (byte === undefined) return false
  const lower = byte | 0x20
  return (byte >= ZERO && byte <= NINE) || (lower >= 0x61 && lower <= 0x66)
}

/** The position behind the number, `true`, `false` or `null` at `at`. @throws SyntaxError */
export function endOfScalar(bytes: Uint8Array, at: number): number {
  switch (bytes[at]) {
    case 0x74:
      return endOfWord(bytes, at, 'true')
    case 0x66:
      return endOfWord(bytes, at, 'false')
    case 0x6e:
      return endOfWord(bytes, at, 'null')
    default:
      return endOfNumber(bytes, at)
  }
}

function endOfWord(bytes: Uint8Array, at: number, word: string): number {
  for (let index = 1; index < word.length; index++)
    if (bytes[at + index] !== word.charCodeAt(index)) throw unexpected(bytes, at + index)
  return at + word.length
}

function endOfNumber(bytes: Uint8Array, start: number): number {
  let at = bytes[start] === MINUS ? start + 1 : start
  at = bytes[at] === ZERO ? at + 1 : endOfDigits(bytes, at)
  if (bytes[at] === 0x2e) at = endOfDigits(bytes, at + 1)
  if (((bytes[at] ?? 0) | 0x20) === 0x65) {
    const sign = bytes[at + 1]
    at = endOfDigits(bytes, sign === 0x2b || sign === MINUS ? at + 2 : at + 1)
  }
  return at
}

function endOfDigits(bytes: Uint8Array, start: number): number {
  let at = start
  for (;;) {
    const byte = bytes[at]
    if (byte === undefined || byte < ZERO || byte > NINE) break
    at++
  }
  if (at === start) throw unexpected(bytes, at)
  return at
}

/** The message of `JSON.parse`. */
export function unexpected(bytes: Uint8Array, at: number): SyntaxError {
  const byte = bytes[at]
  if (byte === undefined) return new SyntaxError('Unexpected end of JSON input')
  const token = byte > 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `byte ${byte}`
  return new SyntaxError(`Unexpected token ${token} in JSON at position ${at}`)
}
