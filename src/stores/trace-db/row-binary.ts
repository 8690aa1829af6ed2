/**
 * Reads rows in ClickHouse's RowBinary format, value by value in the order of the columns:
 * https://clickhouse.com/docs/interfaces/formats/RowBinary
 */
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
