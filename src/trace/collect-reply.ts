import { createCharsBudget } from '../chars-budget.ts'

/** Characters of payload in one JSON reply: V8 ends strings at 512 Mi characters, and a reply is held as one. */
const REPLY_CHARS_MAX = 256 * 1024 * 1024

/**
 * Collects the rows of a reply that is one JSON document.
 * @throws 413 once their payloads no longer fit; rows are never left out silently.
 */
export async function collectReply<Row>(
  rows: AsyncIterable<Row>,
  charsOf: (row: Row) => number,
): Promise<Row[]> {
  const onPayload = createReplyBudget()
  const collected: Row[] = []
  for await (const row of rows) {
    onPayload(charsOf(row))
    collected.push(row)
  }
  return collected
}

/** Adds up the characters of a reply's payloads; what it returns throws 413 once they no longer fit. */
export function createReplyBudget(): (chars: number) => void {
  return createCharsBudget(
    REPLY_CHARS_MAX,
    'The reply would be too large: ask for it in pages with limit and offset',
  )
}
