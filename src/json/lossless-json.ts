import { randomUUID } from 'node:crypto'
import { tooDeep } from './json-limits.ts'

/**
 * JSON that keeps what `JSON.parse` loses: `1.0` stays `1.0`, integers keep every digit, keys keep their order.
 * Payloads travel through the server as the client's own text ({@link JsonText}); only the envelope is parsed.
 */

/**
 * A JSON value kept as the text it arrived in. The text is valid JSON, and one line, as replies of a line each need it.
 */
export class JsonText {
  readonly text: string

  constructor(text: string) {
    // Line breaks can only stand outside strings, where they mean no more than spaces.
    this.text = text.includes('\n') || text.includes('\r') ? text.replaceAll(/[\n\r]/g, ' ') : text
  }

  /** The value as plain JavaScript, with the losses of `JSON.parse`. */
  value(): unknown {
    return JSON.parse(this.text)
  }

  /** A mark within {@link stringify}, which emits the text itself. */
  toJSON(): unknown {
    if (parts === undefined) return this.value()
    parts.push(this.text)
    return MARK
  }
}

/** Which parts of a document stay text: `'text'` here, or children by key (`'*'` for every element of an array). */
export type KeepShape = 'text' | { readonly [key: string]: KeepShape }

/**
 * Parses a document and keeps the parts that `keep` names as {@link JsonText}; `null` stays `null`.
 * @throws SyntaxError when the text is not JSON; 400 for a part of more than `levelsMax` levels.
 */
export function parseKeeping(
  text: string,
  keep: KeepShape | undefined,
  { levelsMax = Number.POSITIVE_INFINITY }: { levelsMax?: number } = {},
): unknown {
  const whole: unknown = JSON.parse(text)
  if (keep === undefined) return whole
  return take({ text, levelsMax }, skipSpace(text, 0), keep).value
}

/** Stands for a part that has its own text. It is random: no value of a client's has it. */
const MARK = randomUUID()

/** The texts of such parts, while a value is written. */
let parts: string[] | undefined

/**
 * Writes a value as JSON; every {@link JsonText} and {@link JsonNumber} in it appears as its own text. V8 writes the
 * value with a mark for each of these, which are then replaced: that takes half as long as to visit all members here.
 */
export function stringify(value: unknown): string {
  if (value instanceof JsonText) return value.text
  if (value instanceof JsonNumber) return value.source
  parts = []
  try {
    const marked = JSON.stringify(value) ?? 'null'
    return parts.length === 0 ? marked : withParts(marked, parts)
  } finally {
    parts = undefined
  }
}

function withParts(marked: string, texts: readonly string[]): string {
  const [first = '', ...others] = marked.split(`"${MARK}"`)
  let text = first
  for (const [index, between] of others.entries()) text += texts[index] + between
  return text
}

/**
 * The text of {@link stringify} in pieces, each at most the text of one value this many levels below: by itself the
 * elements of a list, or the members of an object, that is a member.
 */
export function* stringifyInPieces(value: unknown, levels = 2): Generator<string> {
  if (levels === 0 || !hasParts(value)) {
    yield stringify(value)
  } else if (Array.isArray(value)) {
    let before = '['
    for (const element of value) {
      yield before
      yield* stringifyInPieces(element ?? null, levels - 1)
      before = ','
    }
    yield value.length === 0 ? '[]' : ']'
  } else {
    let before = '{'
    for (const key of Object.keys(value)) {
      const member: unknown = Reflect.get(value, key)
      if (member === undefined) continue
      yield `${before}${JSON.stringify(key)}:`
      yield* stringifyInPieces(member, levels - 1)
      before = ','
    }
    yield before === '{' ? '{}' : '}'
  }
}

function hasParts(value: unknown): value is object {
  if (value instanceof JsonText || value instanceof JsonNumber) return false
  return typeof value === 'object' && value !== null && !hasOwnForm(value)
}

/** Such as dates; a client's value may have a member of that name that is not a function. */
function hasOwnForm(value: object): boolean {
  return 'toJSON' in value && typeof value.toJSON === 'function'
}

/** A number as it was written, for canonical forms that tell `1` from `1.0`. */
export class JsonNumber {
  readonly source: string

  constructor(source: string) {
    this.source = source
  }

  /** A mark within {@link stringify}, which emits the source itself. */
  toJSON(): unknown {
    if (parts === undefined) return this
    parts.push(this.source)
    return MARK
  }
}

export type LosslessJson =
  | string
  | boolean
  | null
  | JsonNumber
  | LosslessJson[]
  | { [key: string]: LosslessJson }

/** Parses a text into values whose numbers keep their source. Duplicate keys: the last wins. */
export function parseLossless(text: string): LosslessJson {
  // TypeScript's reviver type lacks the third argument (ECMAScript "JSON.parse source text access").
  const reviver = (_key: string, value: unknown, context: { source?: string }): unknown =>
    typeof value === 'number' ? new JsonNumber(context.source ?? String(value)) : value
  return JSON.parse(text, reviver as (this: unknown, key: string, value: unknown) => unknown) as LosslessJson
}

/** The text of one member of an object text or one element of an array text; undefined when it is absent. */
export function memberText(text: string, key: string | number): string | undefined {
  let found: string | undefined
  visitParts(text, typeof key === 'number' ? '[' : '{', (name, start, end) => {
    if (name === key) found = text.slice(start, end)
  })
  return found
}

/** The texts of some members of an object text, all found at once; undefined for absent ones. */
export function memberTexts(text: string, names: readonly string[]): (string | undefined)[] {
  const found = partTexts(text, new Set(names))
  return names.map((name) => found.get(name))
}

/**
 * The texts of those members of an object text, or elements of an array text, whose names or positions are `wanted`.
 */
export function partTexts(
  text: string,
  wanted: Pick<ReadonlySet<string | number>, 'has'>,
): Map<string | number, string> {
  const found = new Map<string | number, string>()
  visitParts(text, text.startsWith('[') ? '[' : '{', (key, start, end) => {
    if (wanted.has(key)) found.set(key, text.slice(start, end))
  })
  return found
}

/** Walks the members of an object text, or the elements of an array text; nothing where the text begins otherwise. */
function visitParts(
  text: string,
  opener: '{' | '[',
  visit: (key: string | number, start: number, end: number) => void,
): void {
  let at = skipSpace(text, 0)
  if (text[at] !== opener) return
  at = skipSpace(text, at + 1)
  for (let index = 0; text[at] !== ']' && text[at] !== '}'; index++) {
    let key: string | number = index
    if (opener === '{') {
      const nameEnd = endOfString(text, at)
      key = nameOf(text, at, nameEnd)
      at = skipSpace(text, skipSpace(text, nameEnd) + 1)
    }
    const end = endOfValue(text, at)
    visit(key, at, end)
    at = skipSpace(text, end)
    if (text[at] === ',') at = skipSpace(text, at + 1)
  }
}

/** Most names have no escapes, and parsing them takes longer than all else. */
function nameOf(text: string, start: number, end: number): string {
  const name = text.slice(start + 1, end - 1)
  return name.includes('\\') ? (JSON.parse(text.slice(start, end)) as string) : name
}

/** An object's text with one member replaced, added at the end, or left out (`undefined`). */
export function withMember(text: string, key: string, member: string | undefined): string {
  return withMembers(text, new Map([[key, member]]))
}

/** The same for several members at once. */
export function withMembers(text: string, changed: ReadonlyMap<string, string | undefined>): string {
  const members: string[] = []
  let at = skipSpace(text, skipSpace(text, 0) + 1)
  while (text[at] !== '}') {
    const nameEnd = endOfString(text, at)
    const valueStart = skipSpace(text, skipSpace(text, nameEnd) + 1)
    const end = endOfValue(text, valueStart)
    if (!changed.has(nameOf(text, at, nameEnd)))
      members.push(`${text.slice(at, nameEnd)}:${text.slice(valueStart, end)}`)
    at = skipSpace(text, end)
    if (text[at] === ',') at = skipSpace(text, at + 1)
  }
  for (const [key, member] of changed)
    if (member !== undefined) members.push(`${JSON.stringify(key)}:${member}`)
  return `{${members.join(',')}}`
}

interface Taken {
  value: unknown
  end: number
}

interface Source {
  text: string
  levelsMax: number
}

function take(source: Source, at: number, keep: KeepShape | undefined): Taken {
  const { text, levelsMax } = source
  if (keep === undefined || keep === 'text' || (text[at] !== '{' && text[at] !== '[')) {
    const end = endOfValue(text, at, levelsMax)
    const part = text.slice(at, end)
    const value: unknown = keep === 'text' && part !== 'null' ? new JsonText(part) : JSON.parse(part)
    return { value, end }
  }
  return text[at] === '{' ? takeObject(source, at, keep) : takeArray(source, at, keep['*'])
}

function takeObject(source: Source, start: number, keep: { readonly [key: string]: KeepShape }): Taken {
  const { text } = source
  const object: Record<string, unknown> = {}
  let at = skipSpace(text, start + 1)
  while (text[at] !== '}') {
    const nameEnd = endOfString(text, at)
    const name = JSON.parse(text.slice(at, nameEnd)) as string
    at = skipSpace(text, skipSpace(text, nameEnd) + 1)
    const member = take(source, at, Object.hasOwn(keep, name) ? keep[name] : keep['*'])
    setMember(object, name, member.value)
    at = skipSpace(text, member.end)
    if (text[at] === ',') at = skipSpace(text, at + 1)
  }
  return { value: object, end: at + 1 }
}

/** Sets a member of any name: a plain assignment to `__proto__` would change the prototype. */
export function setMember(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') object[name] = value
  else Object.defineProperty(object, name, { value, enumerable: true, writable: true, configurable: true })
}

function takeArray(source: Source, start: number, keep: KeepShape | undefined): Taken {
  const { text } = source
  const items: unknown[] = []
  let at = skipSpace(text, start + 1)
  while (text[at] !== ']') {
    const item = take(source, at, keep)
    items.push(item.value)
    at = skipSpace(text, item.end)
    if (text[at] === ',') at = skipSpace(text, at + 1)
  }
  return { value: items, end: at + 1 }
}

// The scanners below rely on the text being valid JSON, which JSON.parse has checked.

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** The position of the first character from `at` on that is no white space. */
export function skipSpace(text: string, at: number): number {
  let position = at
  while (text.charCodeAt(position) <= 0x20) position++
  return position
}

/** The position behind the string that begins at `at`; 0 where it does not end. */
export function endOfString(text: string, at: number): number {
  let close = text.indexOf('"', at + 1)
  while (isEscaped(text, close)) close = text.indexOf('"', close + 1)
  return close + 1
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0
  while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes++
  return backslashes % 2 === 1
}

/** The position behind the value that begins at `at`. @throws 400 for more levels. */
export function endOfValue(text: string, at: number, levelsMax = Number.POSITIVE_INFINITY): number {
  const first = text.charCodeAt(at)
  if (first === QUOTE) return endOfString(text, at)
  if (first !== 0x7b && first !== 0x5b) return endOfScalar(text, at)
  let depth = 0
  let position = at
  do {
    const code = text.charCodeAt(position)
    if (code === QUOTE) {
      position = endOfString(text, position)
      continue
    }
    if (code === 0x7b || code === 0x5b) {
      if (++depth > levelsMax) throw tooDeep()
    } else if (code === 0x7d || code === 0x5d) depth--
    position++
  } while (depth > 0)
  return position
}

function endOfScalar(text: string, at: number): number {
  let position = at
  while (position < text.length) {
    const code = text.charCodeAt(position)
    if (code <= 0x20 || code === 0x2c || code === 0x5d || code === 0x7d) break
    position++
  }
  return position
}
