import { expect, it } from 'vitest'
import { rowsOf } from './port.ts'
import { wholeLines } from './whole-lines.ts'

const LINES = Buffer.from('{"a":1}\n\n{"ü":"\\n"}\n')

/** The lines of a reply that comes in these pieces. */
function repliesIn(pieces: readonly Buffer[]): Promise<Buffer[]> {
  const traces = {
    async *text() {
      yield* pieces
    },
  }
  return rowsOf(wholeLines(traces, { sql: '', params: {} }))
}

it('makes pieces of whole lines, wherever the reply is cut', async () => {
  for (let cut = 0; cut <= LINES.length; cut++) {
    const pieces = await repliesIn([LINES.subarray(0, cut), LINES.subarray(cut)])
    expect(Buffer.concat(pieces)).toEqual(LINES)
    for (const piece of pieces) expect(piece.at(-1)).toBe(0x0a)
  }
  const single = await repliesIn([...LINES].map((byte) => Buffer.from([byte])))
  expect(single.map(String)).toEqual(['{"a":1}\n', '\n', '{"ü":"\\n"}\n'])
})

it('ends in an error where the reply ends within a line', async () => {
  await expect(repliesIn([LINES.subarray(0, 3)])).rejects.toThrow('within a line')
})
