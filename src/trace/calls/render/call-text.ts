import { isRecord } from '../../../json/is-record.ts'
import { memberText, withMember } from '../../../json/lossless-json.ts'
import { microsOf } from '../../../time.ts'
import { opShortName, statusOf } from '../sql/derived.ts'
import type { PayloadColumn } from '../sql/table.ts'
import type { Member } from './members.ts'

/** A member's value as JSON has it. */
export type Value = string | number | null

/** A call to be written. */
export interface ShownCall {
  /** By the names of the members. */
  values: ReadonlyMap<string, Value>
  errorCount: number
  /** JSON texts in UTF-8. */
  payloads: Readonly<Record<PayloadColumn, Buffer>>
}

/** Adds the line of a call as the wire shows it. Payloads are copied as bytes. */
export function addCall(text: Text, call: ShownCall, members: readonly Member[]): void {
  const { values, errorCount, payloads } = call
  let head = '{'
  for (const { name, column } of members) {
    const value = values.get(name) ?? null
    if (value !== null || column?.form !== 'omitted') head += `"${name}":${JSON.stringify(value)},`
  }
  text.add(`${head}"attributes":`)
  text.add(payloads.attributes)
  text.add(',"inputs":')
  text.add(payloads.inputs)
  text.add(',"output":')
  text.add(payloads.output)
  text.add(',"summary":')
  addSummary(text, payloads.summary, derivedText(values, errorCount))
  text.add('}\n')
}

/** The derived values of a call, as `summary.weave` shows them. */
function derivedText(values: ReadonlyMap<string, Value>, errorCount: number): string {
  const textOf = (name: string): string | null => {
    const value = values.get(name)
    return typeof value === 'string' ? value : null
  }
  const endedAt = textOf('ended_at')
  const status = statusOf({ exception: textOf('exception'), endedAt, errorCount })
  const micros = endedAt === null ? 0 : microsOf(endedAt) - microsOf(textOf('started_at') ?? '')
  const latency = endedAt === null ? '' : `,"latency_ms":${Math.floor(micros / 1000)}`
  const displayName = textOf('display_name')
  const name =
    displayName === null
      ? `"trace_name":${JSON.stringify(opShortName(textOf('op_name') ?? ''))}`
      : `"display_name":${JSON.stringify(displayName)}`
  return `{"status":"${status}"${latency},${name}}`
}

/** Adds `summary` with the derived values as its last member. */
function addSummary(text: Text, summary: Buffer, derived: string): void {
  if (summary.includes('"weave"')) {
    text.add(summaryKeeping(summary.toString('utf8'), derived))
    return
  }
  const close = summary.lastIndexOf('}')
  text.add(summary.subarray(0, close))
  text.add(`${isEmpty(summary, close) ? '' : ','}"weave":${derived}}`)
}

/** A summary with the derived values. Wire: a client's own members under `weave` stay. */
export function summaryKeeping(summary: string, derived: string): string {
  const kept: unknown = JSON.parse(memberText(summary, 'weave') ?? 'null')
  const weave = isRecord(kept) ? JSON.stringify({ ...kept, ...JSON.parse(derived) }) : derived
  return withMember(summary, 'weave', weave)
}

/** Whether an object, whose closing brace is at `close`, is empty but for white space. */
function isEmpty(object: Buffer, close: number): boolean {
  let at = close - 1
  while (at > 0 && (object[at] ?? 0) <= SPACE) at--
  return object[at] === OPENING_BRACE
}

const SPACE = 0x20
const OPENING_BRACE = 0x7b

export interface Text {
  add(piece: string | Uint8Array): void
  written(): Buffer
}

/** A growing text of UTF-8; `size` is a guess. */
export function createText(size: number): Text {
  let buffer = Buffer.allocUnsafe(Math.ceil(size * 1.5) + 1024)
  let at = 0

  function reserve(bytes: number): void {
    if (at + bytes <= buffer.length) return
    const larger = Buffer.allocUnsafe((at + bytes) * 2)
    buffer.copy(larger, 0, 0, at)
    buffer = larger
  }

  return {
    add(piece) {
      // A character takes at most three bytes for each of its UTF-16 units.
      reserve(typeof piece === 'string' ? piece.length * 3 : piece.byteLength)
      if (typeof piece === 'string') at += buffer.write(piece, at)
      else {
        buffer.set(piece, at)
        at += piece.byteLength
      }
    },
    written: () => buffer.subarray(0, at),
  }
}
