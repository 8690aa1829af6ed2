/**
 * ClickHouse's RowBinary format: the values of rows after one another, in the order of the columns and nothing between
 * them: https://clickhouse.com/docs/interfaces/formats/RowBinary
 */
import type { BinaryQuery, ColumnType, TraceDb } from './port.ts'

/** Reads rows value by value, in the order of the columns. */
export interface RowBinary {
  /** Whether nothing is left. */
  done(): boolean
  /** A `String`, as the bytes that it has in the reply. */
  bytes(): Buffer
  /** A `String` of UTF-8. */
  text(): string
  /** A `UInt64`; exact up to 2^53. */
  count(): number
  /** A `UInt8` that says whether. */
  flag(): boolean
  /** A `DateTime64(6)`, in microseconds since 1970. */
  micros(): number
  /** A value of a `Nullable` type. */
  nullable<Value>(read: () => Value): Value | null
}

/**
 * Runs a query and cuts what it returns into pieces of whole rows, for {@link readRowBinary}. Pieces that hold whole
 * rows pass uncopied.
 * @throws as `TraceDb.rowBinary`; Error when the reply ends within a row.
 */
export async function* wholeRows(
  traces: Pick<TraceDb, 'rowBinary'>,
  query: BinaryQuery,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const widths = query.columns.map(widthOf)
  let held: Uint8Array[] = []
  let heldBytes = 0
  // Size of the row that begins in the buffered bytes, as far as known: a large row is not scanned again for each
  // piece.
  let rowBytes = 1
  for await (const piece of traces.rowBinary(query, signal)) {
    held.push(piece)
    heldBytes += piece.byteLength
    if (heldBytes < rowBytes) continue
    const [first] = held
    const rows = held.length === 1 && first !== undefined ? first : Buffer.concat(held)
    const last = lastRow(rows, widths)
    if (last.start > 0) yield rows.subarray(0, last.start)
    held = last.start < rows.byteLength ? [rows.subarray(last.start)] : []
    heldBytes = rows.byteLength - last.start
    rowBytes = last.bytes
  }
  if (heldBytes > 0) throw new Error('The trace database ended its reply within a row')
}

/** Bytes of a value, or `length first` where a length precedes it. */
interface Width {
  isNullable: boolean
  bytes: number | 'length first'
}

function widthOf(type: ColumnType): Width {
  switch (type) {
    case 'String':
    case 'Nullable(String)':
      return { isNullable: type !== 'String', bytes: 'length first' }
    case 'UInt8':
    case 'Nullable(UInt8)':
      return { isNullable: type !== 'UInt8', bytes: 1 }
    default:
      return { isNullable: type.startsWith('Nullable'), bytes: 8 }
  }
}

/** Where the first incomplete row begins, or the end of the rows, and its minimal length in bytes. */
function lastRow(rows: Uint8Array, widths: readonly Width[]): { start: number; bytes: number } {
  let start = 0
  while (start < rows.byteLength) {
    let at = start
    for (const width of widths) {
      at = afterValue(rows, at, width)
      if (at > rows.byteLength) return { start, bytes: at - start }
    }
    start = at
  }
  return { start, bytes: 1 }
}

/** The end of a value; beyond the end of the bytes where some are missing, as far as is known. */
function afterValue(rows: Uint8Array, start: number, { isNullable, bytes }: Width): number {
  let at = start
  if (isNullable && rows[at++] === 1) return at
  if (bytes !== 'length first') return at + bytes
  let length = 0
  for (let scale = 1; ; scale *= 128) {
    const byte = rows[at++]
    if (byte === undefined) return at
    length += (byte & 0x7f) * scale
    if (byte < 0x80) return at + length
  }
}

/** Reads whole rows. */
export function readRowBinary(rows: Uint8Array): RowBinary {
  const buffer = Buffer.from(rows.buffer, rows.byteOffset, rows.byteLength)
  let at = 0

  /** LEB128, as lengths are written. */
  function length(): number {
    let value = 0
    for (let scale = 1; ; scale *= 128) {
      const byte = buffer[at++] ?? 0
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
    }
  }

  function bytes(): Buffer {
    const size = length()
    at += size
    return buffer.subarray(at - size, at)
  }

  function int64(): number {
    at += 8
    return buffer.readInt32LE(at - 4) * 2 ** 32 + buffer.readUInt32LE(at - 8)
  }

  return {
    done: () => at >= buffer.length,
    bytes,
    text() {
      const size = length()
      at += size
      return buffer.toString('utf8', at - size, at)
    },
    flag: () => buffer[at++] !== 0,
    count: int64,
    micros: int64,
    nullable: (read) => (buffer[at++] === 1 ? null : read()),
  }
}
