import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { eachLine } from './child.ts'

async function linesOf(chunks: (string | Buffer)[]): Promise<string[]> {
  const lines: string[] = []
  const stream = Readable.from(chunks.map((chunk) => Buffer.from(chunk)))
  const ended = new Promise((resolve) => stream.once('end', resolve))
  eachLine(stream, (line) => lines.push(line))
  await ended
  return lines
}

it('passes on lines however they are cut and whatever ends them, and the last without an end', async () => {
  expect(await linesOf(['a', 'b\nc\r', '\nd\r', 'e\rf\n\ng\r'])).toEqual(['ab', 'c', 'd', 'e', 'f', '', 'g'])
})

it('ends no line within a text of JSON', async () => {
  const line = JSON.stringify({ text: 'é\u2028\u2029' })
  const bytes = Buffer.from(`${line}\n`)
  expect(await linesOf([...bytes].map((byte) => Buffer.from([byte])))).toEqual([line])
})
