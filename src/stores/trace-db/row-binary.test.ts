import { describe, expect, it } from 'vitest'
import { rowsOf } from './port.ts'
import { type RowBinary, readRowBinary, wholeRows } from './row-binary.ts'

const COLUMNS = ['String', 'UInt64', 'Nullable(DateTime64(6))', 'Nullable(String)', 'UInt8'] as const

/** A text whose length takes two bytes. */
const LONG_TEXT = 'ü'.repeat(100)

const ROWS = [
  ['', 0, null, null, true],
  [LONG_TEXT, 2 ** 52, 1_767_323_045_678_901, '', false],
  ['\u0000\u0001', 7, null, LONG_TEXT, true],
]

/** The same in RowBinary. */
const BYTES = Buffer.concat([
  Buffer.from([0, ...int64(0), 1, 1, 1]),
  Buffer.from([0xc8, 0x01, ...Buffer.from(LONG_TEXT), ...int64(2 ** 52)]),
  Buffer.from([0, ...int64(1_767_323_045_678_901), 0, 0, 0]),
  Buffer.from([2, 0, 1, ...int64(7), 1, 0, 0xc8, 0x01, ...Buffer.from(LONG_TEXT), 1]),
])

function int64(value: number): Uint8Array {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64LE(BigInt(value))
  return bytes
}

function* rowsIn(piece: Uint8Array) {
  for (const row: RowBinary = readRowBinary(piece); !row.done(); )
    yield [row.text(), row.count(), row.nullable(row.micros), row.nullable(row.text), row.flag()]
}

/** The rows of a reply that comes in these pieces. */
function repliesIn(pieces: readonly Uint8Array[]): Promise<Uint8Array[]> {
  const traces = {
    async *rowBinary() {
      yield* pieces
    },
  }
  return rowsOf(wholeRows(traces, { sql: '', params: {}, columns: COLUMNS }))
}

describe('rows in RowBinary', () => {
  it('are whole, wherever the reply is cut', async () => {
    for (let cut = 0; cut <= BYTES.length; cut++) {
      const pieces = await repliesIn([BYTES.subarray(0, cut), BYTES.subarray(cut)])
      expect(pieces.flatMap((piece) => [...rowsIn(piece)])).toEqual(ROWS)
    }
  })

  it('are whole where every byte comes alone, and none waits for the next row', async () => {
    const pieces = await repliesIn([...BYTES].map((byte) => Buffer.from([byte])))
    expect(pieces.map((piece) => [...rowsIn(piece)])).toEqual(ROWS.map((row) => [row]))
  })

  it('are not copied where the reply was cut between them', async () => {
    const [piece] = await repliesIn([BYTES])
    expect(piece?.buffer).toBe(BYTES.buffer)
  })

  it('end in an error where the reply ends within one', async () => {
    const starts = new Set([0, 12, 12 + 2 + 200 + 8 + 9 + 2 + 1, BYTES.length])
    for (let end = 0; end <= BYTES.length; end++) {
      const replies = repliesIn([BYTES.subarray(0, end)])
      if (starts.has(end)) await replies
      else await expect(replies).rejects.toThrow('within a row')
    }
  })
})
