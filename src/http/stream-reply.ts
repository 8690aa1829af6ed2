import { stringify } from '../lossless-json.ts'

/** Rows are collected into chunks of about this many characters, so that a row does not cost a write of its own. */
const CHUNK_CHARS = 64 * 1024

/**
 * A body with one JSON document a line. The first row is pulled before this returns, so a query that fails at once
 * still becomes an error reply; a later error ends the connection abnormally. A client that goes away closes `rows`.
 */
export async function jsonLines(rows: AsyncIterable<unknown>): Promise<ReadableStream<Uint8Array>> {
  const iterator = rows[Symbol.asyncIterator]()
  let next: IteratorResult<unknown> = await iterator.next()
  const encoder = new TextEncoder()
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      let chunk = ''
      while (!next.done && chunk.length < CHUNK_CHARS) {
        chunk += `${stringify(next.value)}\n`
        next = await iterator.next()
      }
      if (chunk !== '') controller.enqueue(encoder.encode(chunk))
      if (next.done) controller.close()
    },
    async cancel() {
      await iterator.return?.()
    },
  })
}
