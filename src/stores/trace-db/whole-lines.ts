import type { Query, TraceDb } from './port.ts'

const END_OF_LINE = 0x0a

/**
 * Runs a query whose texts are lines, each with its end, and cuts what it returns into pieces of whole lines.
 * @throws as `TraceDb.text`, and as {@link wholeLinesOf}.
 */
export function wholeLines(
  traces: Pick<TraceDb, 'text'>,
  query: Query,
  signal?: AbortSignal,
): AsyncGenerator<Buffer> {
  return wholeLinesOf(traces.text(query, signal))
}

/**
 * Makes pieces of whole lines from bytes that are cut anywhere. Pieces that hold whole lines pass uncopied.
 * @throws Error when the bytes end within a line.
 */
export async function* wholeLinesOf(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let held: Buffer[] = []
  for await (const piece of pieces) {
    const end = piece.lastIndexOf(END_OF_LINE) + 1
    if (end > 0) {
      const whole = piece.subarray(0, end)
      yield held.length === 0 ? whole : Buffer.concat([...held, whole])
      held = []
    }
    if (end < piece.byteLength) held.push(piece.subarray(end))
  }
  if (held.length > 0) throw new Error('The trace database ended its reply within a line')
}
