import { setImmediate } from 'node:timers/promises'
import {
  JSON_DEPTH_MAX,
  JSON_VALUES_MAX,
  KEPT_VALUE_WEIGHT,
  tooDeep,
  tooManyValues,
} from '../json/json-limits.ts'
import { endOfScalar, endOfString, unexpected } from '../json/json-scan.ts'
import { JsonText, setMember } from '../json/lossless-json.ts'
import type { BodyShape, PartsShape } from '../wire/body-shape.ts'

/** Bytes scanned before other requests run: some 2 ms, and 10 ms where most of them are names of members. */
const BYTES_PER_TURN = 512 * 1024

/** What may come next. */
const VALUE = 0
const VALUE_OR_END = 1
const NAME = 2
const NAME_OR_END = 3
const COLON = 4
const COMMA_OR_END = 5
const DONE = 6

/**
 * Parses a large document as {@link parseKeeping} does, in slices between which other requests run, and makes values
 * only of what `shape` reads. The bytes of line breaks between values become spaces.
 * @throws SyntaxError when the bytes are not JSON; 400 for more than {@link JSON_DEPTH_MAX} levels; 413 for more than
 * {@link JSON_VALUES_MAX} values that are read one by one.
 */
export async function parseSliced(bytes: Buffer, shape: BodyShape): Promise<unknown> {
  const parser: Parser = {
    bytes,
    at: 0,
    state: VALUE,
    kinds: new Uint8Array(2 * JSON_DEPTH_MAX + 1),
    depth: 0,
    open: [],
    shape,
    start: 0,
    wholeDepth: 0,
    values: 0,
    result: undefined,
  }
  while (!parseUntil(parser, parser.at + BYTES_PER_TURN)) await setImmediate()
  return parser.result
}

interface Parser {
  bytes: Buffer
  at: number
  state: number
  /** For each enclosing container: 1 for an object, 0 for an array. */
  kinds: Uint8Array
  depth: number
  /** Containers whose parts are read. */
  open: Open[]
  /** How the current value is kept, and where it begins. */
  shape: BodyShape
  start: number
  /** The depth of the current container of which no parts are read; 0 for none. */
  wholeDepth: number
  values: number
  result: unknown
}

interface Open {
  value: unknown[] | Record<string, unknown>
  shape: PartsShape
  /** Name of the current member. */
  name: string
}

/** @returns whether the end has been reached */
function parseUntil(parser: Parser, stop: number): boolean {
  const { bytes } = parser
  const last = Math.min(stop, bytes.length)
  while (parser.at < last) {
    const byte = bytes[parser.at]
    switch (byte) {
      case 0x22:
        takeString(parser)
        break
      case 0x2c:
        takeComma(parser)
        break
      case 0x3a:
        if (parser.state !== COLON) throw unexpected(bytes, parser.at)
        parser.state = VALUE
        parser.at++
        break
      case 0x7b:
        enter(parser, 1)
        break
      case 0x5b:
        enter(parser, 0)
        break
      case 0x7d:
        leave(parser, 1)
        break
      case 0x5d:
        leave(parser, 0)
        break
      case 0x0a:
      case 0x0d:
        bytes[parser.at++] = 0x20
        break
      case 0x20:
      case 0x09:
        parser.at++
        break
      default:
        beginValue(parser)
        finishScalar(parser, endOfScalar(bytes, parser.at))
    }
  }
  if (last < bytes.length) return false
  if (parser.state !== DONE) throw unexpected(bytes, parser.at)
  return true
}

function takeString(parser: Parser): void {
  const { bytes, at, state } = parser
  if (state !== NAME && state !== NAME_OR_END) {
    beginValue(parser)
    finishScalar(parser, endOfString(bytes, at))
    return
  }
  const end = endOfString(bytes, at)
  const parent = parser.wholeDepth === 0 ? parser.open.at(-1) : undefined
  if (parent !== undefined) {
    parent.name = textOf(bytes, at, end)
    parser.shape = parent.shape.members.get(parent.name) ?? parent.shape.others ?? 'any'
  }
  parser.state = COLON
  parser.at = end
}

function takeComma(parser: Parser): void {
  if (parser.state !== COMMA_OR_END) throw unexpected(parser.bytes, parser.at)
  parser.state = parser.kinds[parser.depth] === 1 ? NAME : VALUE
  parser.at++
  if (parser.state === VALUE && parser.wholeDepth === 0)
    parser.shape = parser.open.at(-1)?.shape.items ?? 'any'
}

function beginValue(parser: Parser): void {
  const { bytes, at, state, shape, wholeDepth } = parser
  if (state !== VALUE && state !== VALUE_OR_END) throw unexpected(bytes, at)
  if (wholeDepth === 0) parser.start = at
  if (shape === 'drop' || (shape === 'text' && wholeDepth > 0)) return
  const isContainer = bytes[at] === 0x7b || bytes[at] === 0x5b
  parser.values += shape === 'text' && isContainer ? KEPT_VALUE_WEIGHT : 1
  if (parser.values > JSON_VALUES_MAX) throw tooManyValues()
}

function enter(parser: Parser, kind: 0 | 1): void {
  beginValue(parser)
  const { shape, wholeDepth } = parser
  const depth = ++parser.depth
  // A payload has levels of its own, wherever it stands.
  const levels = wholeDepth > 0 && shape === 'text' ? depth - wholeDepth + 1 : depth
  if (levels > JSON_DEPTH_MAX) throw tooDeep()
  parser.kinds[depth] = kind
  parser.state = kind === 1 ? NAME_OR_END : VALUE_OR_END
  parser.at++
  if (wholeDepth > 0) return
  if (typeof shape === 'object') {
    parser.open.push({ value: kind === 1 ? {} : [], shape, name: '' })
    parser.shape = shape.items ?? 'any'
  } else parser.wholeDepth = depth
}

function leave(parser: Parser, kind: 0 | 1): void {
  const { bytes, depth, state, wholeDepth } = parser
  const isEmpty = state === (kind === 1 ? NAME_OR_END : VALUE_OR_END)
  if (depth === 0 || parser.kinds[depth] !== kind || !(isEmpty || state === COMMA_OR_END))
    throw unexpected(bytes, parser.at)
  parser.at++
  parser.depth--
  if (wholeDepth === 0) put(parser, parser.open.pop()?.value)
  else if (wholeDepth === depth) {
    parser.wholeDepth = 0
    putSource(parser, parser.at)
  } else parser.state = COMMA_OR_END
}

function finishScalar(parser: Parser, end: number): void {
  if (parser.wholeDepth > 0) parser.state = COMMA_OR_END
  else putSource(parser, end)
  parser.at = end
}

/** The current value ends, and none of its parts were read. */
function putSource(parser: Parser, end: number): void {
  const { bytes, start, shape } = parser
  if (shape === 'drop') parser.state = COMMA_OR_END
  else if (shape === 'text') {
    const source = bytes.toString('utf8', start, end)
    put(parser, source === 'null' ? null : new JsonText(source))
  } else if (bytes[start] === 0x22) put(parser, textOf(bytes, start, end))
  else put(parser, JSON.parse(bytes.toString('utf8', start, end)))
}

/** The text of a string token. */
function textOf(bytes: Buffer, start: number, end: number): string {
  const text = bytes.toString('utf8', start + 1, end - 1)
  return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text
}

/** A value is complete. */
function put(parser: Parser, value: unknown): void {
  const parent = parser.open.at(-1)
  parser.state = parent === undefined ? DONE : COMMA_OR_END
  if (parent === undefined) parser.result = value
  else if (Array.isArray(parent.value)) parent.value.push(value)
  else setMember(parent.value, parent.name, value)
}
