import { tooLarge } from '../errors.ts'

/** Characters of payload in one JSON reply: V8 ends strings at 512 Mi characters, and a reply is held as one. */
const REPLY_CHARS_MAX = 256 * 1024 * 1024

/**
 * Collects the rows of a reply that is one JSON document.
 * @throws 413 once their payloads no longer fit; nothing is ever left out silently.
 */
export async function collectReply<Row>(
  rows: AsyncIterable<Row>,
  charsOf: (row: Row) => number,
): Promise<Row[]> {
  const collected: Row[] = []
  let chars = 0
  for await (const row of rows) {
    chars += charsOf(row)
    if (chars > REPLY_CHARS_MAX)
      throw tooLarge('The reply would be too large: ask for it in pages with limit and offset')
    collected.push(row)
  }
  return collected
}
