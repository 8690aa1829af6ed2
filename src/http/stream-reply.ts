import { AsyncLocalStorage } from 'node:async_hooks'
import { stringify } from '../json/lossless-json.ts'

/** Rows are collected into chunks of about this many characters, so that not every row costs a write. */
const CHUNK_CHARS = 64 * 1024

/**
 * A body with one JSON document a line; bytes among the rows are whole lines already. The first row is pulled before
 * this returns, so a query that fails at once still becomes an error reply; a later error ends the connection
 * abnormally. A client that goes away closes `rows`. All of them are made within the limits and the span of the request
 * that asks for this.
 */
export async function jsonLines(
  rows: AsyncIterable<unknown>,
): Promise<ReadableStream<Uint8Array> | Uint8Array> {
  const chunks = inChunks(rows)
  const first = await chunks.next()
  if (first.done) return new Uint8Array()
  let next = await chunks.next()
  // Most lists are one chunk, and a byte array costs less to send than a stream.
  if (next.done) return first.value
  let ready: Uint8Array | undefined = first.value
  // What reads the stream runs within no request.
  const inRequest = AsyncLocalStorage.snapshot()
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (ready !== undefined) {
        controller.enqueue(ready)
        ready = undefined
      } else if (next.done) {
        controller.close()
      } else {
        controller.enqueue(next.value)
        next = await inRequest(() => chunks.next())
      }
    },
    async cancel() {
      await inRequest(() => chunks.return(undefined))
    },
  })
}

async function* inChunks(rows: AsyncIterable<unknown>): AsyncGenerator<Uint8Array, undefined> {
  let chunk = ''
  for await (const row of rows) {
    const isBytes = row instanceof Uint8Array
    if (!isBytes) chunk += `${stringify(row)}\n`
    if (chunk !== '' && (isBytes || chunk.length >= CHUNK_CHARS)) {
      yield Buffer.from(chunk)
      chunk = ''
    }
    if (isBytes) yield row
  }
  if (chunk !== '') yield Buffer.from(chunk)
  return undefined
}
