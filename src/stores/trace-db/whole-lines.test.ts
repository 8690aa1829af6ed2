import { expect, it } from 'vitest'
import { rowsOf } from './port.ts'
import { wholeLines, wholeLinesOf } from './whole-lines.ts'

const LINES = Buffer.from('{"a":1}\n\n{"ü":"\\n"}\n')

/** The lines of a reply that comes in these pieces. */
function linesIn(pieces: readonly Buffer[], bytesMin?: number): Promise<Buffer[]> {
  return rowsOf(wholeLinesOf(streamOf(pieces), bytesMin))
}

async function* streamOf(pieces: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* pieces
}

it('makes pieces of whole lines, wherever the reply is cut', async () => {
  for (let cut = 0; cut <= LINES.length; cut++) {
    for (const bytesMin of [0, 10]) {
      const pieces = await linesIn([LINES.subarray(0, cut), LINES.subarray(cut)], bytesMin)
      expect(Buffer.concat(pieces)).toEqual(LINES)
      for (const piece of pieces) expect(piece.at(-1)).toBe(0x0a)
    }
  }
  const single = [...LINES].map((byte) => Buffer.from([byte]))
  expect((await linesIn(single)).map(String)).toEqual(['{"a":1}\n', '\n', '{"ü":"\\n"}\n'])
  expect((await linesIn(single, 9)).map(String)).toEqual(['{"a":1}\n\n', '{"ü":"\\n"}\n'])
})

it('passes whole lines uncopied where they are large enough', async () => {
  expect((await linesIn([LINES], LINES.length))[0]?.buffer).toBe(LINES.buffer)
})

it('makes pieces of a megabyte of what the database sends in small ones', async () => {
  const line = Buffer.from(`${'x'.repeat(64 * 1024)}\n`)
  const pieces = Array.from({ length: 40 }, () => line)
  const sizes = (await rowsOf(wholeLines({ text: () => streamOf(pieces) }, { sql: '', params: {} }))).map(
    ({ byteLength }) => byteLength / line.byteLength,
  )
  expect(sizes).toEqual([16, 16, 8])
})

it('ends in an error where the reply ends within a line', async () => {
  for (const bytesMin of [0, 1000])
    await expect(linesIn([LINES, LINES.subarray(0, 3)], bytesMin)).rejects.toThrow('within a line')
})
