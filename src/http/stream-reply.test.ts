import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { queryLimits, withQueryLimits } from '../query-limits.ts'
import { jsonLines } from './stream-reply.ts'

const LIMITS = { whose: 'a key', msMax: 1, rowsMax: 1 }

/** Rows of a chunk each, which note whose limits hold while each is made, and at the end. */
function noting() {
  const seen: (string | undefined)[] = []
  async function* rows() {
    try {
      for (let row = 0; row < 5; row++) {
        await Promise.resolve()
        seen.push(queryLimits()?.whose)
        yield 'x'.repeat(70_000)
      }
    } finally {
      seen.push(`at the end: ${queryLimits()?.whose}`)
    }
  }
  return { rows, seen }
}

/** The body of a request that has these limits. */
async function bodyOf(rows: () => AsyncIterable<unknown>): Promise<ReadableStream<Uint8Array>> {
  const body = await withQueryLimits(
    () => LIMITS,
    () => jsonLines(rows()),
  )
  if (!(body instanceof ReadableStream)) throw new TypeError('several chunks are a stream')
  return body
}

it('makes all rows within the limits of its request, also those that the client reads later', async () => {
  const { rows, seen } = noting()
  const reader = (await bodyOf(rows)).getReader()
  // In turns of their own, as the writer of a socket asks for more.
  while (!(await reader.read()).done) await setImmediate()
  expect(seen).toEqual([...Array(5).fill('a key'), 'at the end: a key'])
})

it('closes rows within the limits of its request when the client goes away', async () => {
  const { rows, seen } = noting()
  await (await bodyOf(rows)).cancel()
  expect(seen.at(-1)).toBe('at the end: a key')
})
