import { tooLarge } from '../../errors.ts'
import { JSON_DEPTH_MAX, tooDeep } from '../../json/json-limits.ts'

/** The body without its groups: ids and a few numbers. */
const HEAD_BYTES_MAX = 1024 * 1024

/** One group is held in memory while it is checked. */
const GROUP_BYTES_MAX = 128 * 1024 * 1024

const KEY = 'trajectory_groups'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const TAB = 0x09
const SPACE = 0x20

/** Takes a JSON body apart as it arrives. */
export interface GroupSplitter {
  /** The groups that end in this chunk; none contains a line break. */
  push(chunk: Uint8Array): Buffer[]
  /** What the body says before its groups, as the text of an object; undefined until they begin. */
  before(): string | undefined
  /** The rest of the body, with an empty list in place of the groups. */
  head(): string
}

/**
 * Cuts `{"trajectory_groups": [...], ...}` into its groups without parsing it as a whole: only strings and brackets are
 * tracked, at ten times the speed of a streaming parser, and each group keeps the client's own text. Invalid JSON is
 * found when the pieces are parsed.
 * @throws SyntaxError where the pieces cannot be separated; 413 for a piece over its limit; 400 for more levels than
 * allowed, which the trainer could not read.
 */
export function createGroupSplitter(): GroupSplitter {
  const head = createBuffer(HEAD_BYTES_MAX, 'What a job says beside its trajectory groups')
  const group = createBuffer(GROUP_BYTES_MAX, 'A trajectory group')
  let depth = 0
  let inString = false
  let escaped = false
  let inGroups = false
  let groupsSeen = 0
  let before: string | undefined
  let string = ''
  let key = ''

  function walkString(byte: number): void {
    if (escaped) escaped = false
    else if (byte === BACKSLASH) escaped = true
    else if (byte === QUOTE) inString = false
    else if (!inGroups && string.length < KEY.length + 1) string += String.fromCharCode(byte)
  }

  function enter(): void {
    if (++depth > JSON_DEPTH_MAX) throw tooDeep()
  }

  function walkHead(byte: number): void {
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) enter()
    else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) depth--
    else if (depth === 1 && byte === COLON) key = string
    else if (depth === 1 && byte === COMMA) key = ''
  }

  function walkGroup(byte: number): void {
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) enter()
    if (byte !== CLOSE_OBJECT && byte !== CLOSE_ARRAY) return
    if (depth === 2) throw new SyntaxError(`Unexpected "}" in ${KEY}`)
    depth--
  }

  function endGroup(groups: Buffer[], end: 'comma' | 'bracket'): void {
    const bytes = group.take()
    // `[]` has no group; `[1,]` has an empty one, which is not JSON.
    if (end === 'bracket' && groupsSeen === 0 && isBlank(bytes)) return
    groupsSeen++
    groups.push(bytes)
  }

  return {
    push(chunk) {
      const groups: Buffer[] = []
      let from = 0
      const flush = (to: number): void => {
        const sink = inGroups ? group : head
        sink.add(chunk.subarray(from, to))
        from = to
      }
      for (let at = 0; at < chunk.length; at++) {
        const byte = chunk[at] ?? 0
        if (inString) walkString(byte)
        else if (byte === QUOTE) {
          inString = true
          string = ''
        } else if (!inGroups) {
          walkHead(byte)
          if (depth !== 2 || byte !== OPEN_ARRAY || key !== KEY) continue
          flush(at + 1)
          before ??= `${head.text()}]}`
          inGroups = true
        } else if (depth === 2 && byte === COMMA) {
          flush(at)
          from = at + 1
          endGroup(groups, 'comma')
        } else if (depth === 2 && byte === CLOSE_ARRAY) {
          flush(at)
          endGroup(groups, 'bracket')
          inGroups = false
          depth = 1
        } else {
          if (byte === LINE_FEED || byte === CARRIAGE_RETURN) chunk[at] = SPACE
          walkGroup(byte)
        }
      }
      flush(chunk.length)
      return groups
    },
    before: () => before,
    head: () => head.take().toString('utf8'),
  }
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === SPACE || byte === TAB)
}

interface GrowingBuffer {
  add(bytes: Uint8Array): void
  text(): string
  /** Returns what it has and empties it. */
  take(): Buffer
}

function createBuffer(bytesMax: number, what: string): GrowingBuffer {
  let chunks: Uint8Array[] = []
  let size = 0
  return {
    add(bytes) {
      if (bytes.byteLength === 0) return
      size += bytes.byteLength
      if (size > bytesMax) throw tooLarge(`${what} is larger than ${bytesMax} bytes`)
      chunks.push(bytes)
    },
    text: () => Buffer.concat(chunks, size).toString('utf8'),
    take() {
      const bytes = Buffer.concat(chunks, size)
      chunks = []
      size = 0
      return bytes
    },
  }
}
