import type { Query, TraceDb } from './port.ts'

const END_OF_LINE = 0x0a

/**
 * Runs a query whose texts are lines, each with its end, and cuts what it returns into pieces of whole lines. Pieces that
 * hold whole lines pass uncopied.
 * @throws as `TraceDb.text`; Error when the reply ends within a line.
 */
export async function* wholeLines(
  traces: Pick<TraceDb, 'text'>,
  query: Query,
  signal?: AbortSignal,
): AsyncGenerator<Buffer> {
  let held: Buffer[] = []
  for await (const piece of traces.text(query, signal)) {
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
