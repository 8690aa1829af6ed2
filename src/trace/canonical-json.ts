import { JSON_DEPTH_MAX } from '../json/json-limits.ts'
import { endOfScalar, endOfString } from '../json/json-scan.ts'
import { internalised, tooDeep } from './digestible.ts'

/**
 * The canonical form of a JSON value: Python's `json.dumps(value, sort_keys=True)`, in which refs are in their internal
 * form. It is made from bytes to bytes, because a value for each number would take a hundred times the memory of the
 * text.
 * @throws 400 for malformed or internal refs in it, or too deep nesting.
 */
export function canonicalJson(text: string): Uint8Array {
  const bytes = Buffer.from(text)
  const form: Form = {
    bytes,
    at: 0,
    out: Buffer.allocUnsafe(bytes.length + bytes.length / 2 + 64),
    size: 0,
    depth: 0,
  }
  writeValue(form)
  return form.out.subarray(0, form.size)
}

interface Form {
  bytes: Buffer
  at: number
  out: Buffer
  size: number
  depth: number
}

function writeValue(form: Form): void {
  const byte = skipSpace(form)
  if (byte === 0x22) writeString(form, internalised)
  else if (byte === 0x7b || byte === 0x5b) {
    if (++form.depth > JSON_DEPTH_MAX) throw tooDeep()
    if (byte === 0x7b) writeObject(form)
    else writeArray(form)
    form.depth--
  } else writeScalar(form)
}

function writeArray(form: Form): void {
  writeText(form, '[')
  form.at++
  for (let isFirst = true; skipSpace(form) !== 0x5d; isFirst = false) {
    if (!isFirst) writeText(form, ', ')
    writeValue(form)
    skipComma(form)
  }
  writeText(form, ']')
  form.at++
}

/** A member in the output, without what stands between members. */
interface Member {
  name: string
  start: number
  end: number
}

function writeObject(form: Form): void {
  writeText(form, '{')
  form.at++
  const start = form.size
  const members: Member[] = []
  let isSorted = true
  while (skipSpace(form) !== 0x7d) {
    const before = members.at(-1)
    if (before !== undefined) writeText(form, ', ')
    const member = writeMember(form)
    isSorted &&= before === undefined || byCodePoint(before.name, member.name) < 0
    members.push(member)
    skipComma(form)
  }
  if (!isSorted) sortMembers(form, start, members)
  writeText(form, '}')
  form.at++
}

function writeMember(form: Form): Member {
  const start = form.size
  const name = writeString(form, asItIs)
  writeText(form, ': ')
  skipSpace(form)
  form.at++
  writeValue(form)
  return { name, start, end: form.size }
}

/** Of several members of one name the last one counts. */
function sortMembers(form: Form, start: number, members: readonly Member[]): void {
  const written = Buffer.from(form.out.subarray(start, form.size))
  const sorted = members.toSorted((a, b) => byCodePoint(a.name, b.name))
  form.size = start
  for (const [index, member] of sorted.entries()) {
    if (sorted[index + 1]?.name === member.name) continue
    if (form.size > start) writeText(form, ', ')
    form.size += written.copy(form.out, form.size, member.start - start, member.end - start)
  }
}

/** @returns the text of the string. */
function writeString(form: Form, change: (text: string) => string): string {
  const { bytes, at } = form
  const end = endOfString(bytes, at)
  form.at = end
  if (isPlain(bytes, at + 1, end - 1)) {
    const text = bytes.toString('latin1', at + 1, end - 1)
    if (text.startsWith('weave')) writeText(form, `"${change(text)}"`)
    else copy(form, at, end)
    return text
  }
  const text = JSON.parse(bytes.toString('utf8', at, end)) as string
  writeEscaped(form, change(text))
  return text
}

/** Whether all characters are printable ASCII, which needs no escapes. */
function isPlain(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number
    if (byte > 0x7e || byte === 0x5c) return false
  }
  return true
}

const HEX = Buffer.from('0123456789abcdef')

/** Python escapes everything outside printable ASCII, DEL too, and of the printable only quote and backslash. */
function writeEscaped(form: Form, text: string): void {
  makeRoom(form, text.length * 6 + 2)
  const { out } = form
  let { size } = form
  out[size++] = 0x22
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit >= 0x20 && unit <= 0x7e && unit !== 0x22 && unit !== 0x5c) {
      out[size++] = unit
      continue
    }
    out[size++] = 0x5c
    const letter = ESCAPES.get(unit)
    if (letter !== undefined) {
      out[size++] = letter
      continue
    }
    out[size++] = 0x75
    for (let shift = 12; shift >= 0; shift -= 4) out[size++] = HEX[(unit >> shift) & 15] as number
  }
  out[size++] = 0x22
  form.size = size
}

/** Units with a one-letter escape. */
const ESCAPES = new Map(
  ['""', '\\\\', '\nn', '\rr', '\tt', '\bb', '\ff'].map((pair) => [pair.charCodeAt(0), pair.charCodeAt(1)]),
)

function writeScalar(form: Form): void {
  const { bytes, at } = form
  const end = endOfScalar(bytes, at)
  if (isInteger(bytes, at, end) || (bytes[at] as number) > 0x39) copy(form, at, end)
  else writeText(form, pythonNumber(bytes.toString('latin1', at, end)))
  form.at = end
}

/** Whether it is a number of nothing but digits. */
function isInteger(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number
    if (byte < 0x30 || byte > 0x39) return false
  }
  return true
}

function copy(form: Form, start: number, end: number): void {
  makeRoom(form, end - start)
  const { bytes, out } = form
  if (end - start > 64) form.size += bytes.copy(out, form.size, start, end)
  else for (let at = start; at < end; at++) out[form.size++] = bytes[at] as number
}

/** Writes ASCII. */
function writeText(form: Form, text: string): void {
  makeRoom(form, text.length)
  const { out } = form
  for (let index = 0; index < text.length; index++) out[form.size++] = text.charCodeAt(index)
}

function makeRoom(form: Form, bytes: number): void {
  if (form.size + bytes <= form.out.length) return
  const larger = Buffer.allocUnsafe((form.size + bytes) * 2)
  form.out.copy(larger, 0, 0, form.size)
  form.out = larger
}

/** @returns the byte that is next. */
function skipSpace(form: Form): number | undefined {
  const { bytes } = form
  while ((bytes[form.at] ?? 0x21) <= 0x20) form.at++
  return bytes[form.at]
}

function skipComma(form: Form): void {
  if (skipSpace(form) === 0x2c) form.at++
}

function asItIs(text: string): string {
  return text
}

/** JavaScript compares UTF-16 units, Python code points: they differ above U+FFFF. */
function byCodePoint(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length)
  for (let at = 0; at < shorter; at++) {
    if (a.charCodeAt(at) !== b.charCodeAt(at)) return (a.codePointAt(at) ?? 0) - (b.codePointAt(at) ?? 0)
  }
  return a.length - b.length
}

/** Integers keep their digits; floats print as Python's repr. */
function pythonNumber(source: string): string {
  if (/^-?\d+$/.test(source)) return source === '-0' ? '0' : source
  return pythonFloat(Number(source))
}

/** Python writes exponents from 1e16 up and below 1e-4, with two digits at least; a float always shows it is one. */
function pythonFloat(value: number): string {
  if (Object.is(value, -0)) return '-0.0'
  if (!Number.isFinite(value)) return value > 0 ? 'Infinity' : '-Infinity'
  const magnitude = Math.abs(value)
  if (magnitude !== 0 && (magnitude >= 1e16 || magnitude < 1e-4)) {
    const [mantissa = '', exponent = '0'] = value.toExponential().split('e')
    const sign = exponent.startsWith('-') ? '-' : '+'
    return `${mantissa}e${sign}${exponent.replace(/^[+-]/, '').padStart(2, '0')}`
  }
  const text = String(value)
  return text.includes('.') ? text : `${text}.0`
}
