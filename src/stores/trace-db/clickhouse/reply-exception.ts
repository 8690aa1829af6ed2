import { extractErrorAtTheEndOfChunk } from '@clickhouse/client'

const EXCEPTION = '\r\n__exception__\r\n'
const CARRIAGE_RETURN = EXCEPTION.charCodeAt(0)

/**
 * Passes a reply on. An exception after the first bytes is part of the reply, behind a tag that its headers name, and
 * the connection is closed after it: https://clickhouse.com/docs/interfaces/http#http_response_codes_caveats
 * @param tag undefined where the headers name none
 * @throws what the server threw, or what the connection failed with
 */
export async function* untilException(
  reply: AsyncIterable<Buffer>,
  tag: string | undefined,
): AsyncGenerator<Buffer> {
  if (tag === undefined) return yield* reply
  const marker = Buffer.from(EXCEPTION + tag)
  let exception: Buffer | undefined
  /** The last bytes so far, where the marker may begin with them. */
  let held: Buffer = Buffer.of()
  try {
    for await (const piece of reply) {
      if (exception !== undefined) {
        exception = Buffer.concat([exception, piece])
        continue
      }
      // Few pieces end as the marker begins, so that few are copied.
      const bytes = held.length === 0 ? piece : Buffer.concat([held, piece])
      const at = bytes.indexOf(marker)
      if (at >= 0) exception = bytes.subarray(at)
      const end = at >= 0 ? at : bytes.length - beginningAtEnd(bytes, marker)
      held = bytes.subarray(end)
      if (end > 0) yield bytes.subarray(0, end)
    }
  } catch (error) {
    if (exception === undefined) throw error
  }
  if (exception !== undefined) throw extractErrorAtTheEndOfChunk(exception, tag)
  if (held.length > 0) yield held
}

/** How many of the last bytes are the beginning of a marker, which are fewer than all of its bytes. */
function beginningAtEnd(bytes: Buffer, marker: Buffer): number {
  const first = Math.max(0, bytes.length - marker.length + 1)
  let at = bytes.indexOf(CARRIAGE_RETURN, first)
  while (at >= 0 && bytes.compare(marker, 0, bytes.length - at, at) !== 0)
    at = bytes.indexOf(CARRIAGE_RETURN, at + 1)
  return at < 0 ? 0 : bytes.length - at
}
