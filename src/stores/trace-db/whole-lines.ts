import type { Query, TraceDb } from './port.ts'

const END_OF_LINE = 0x0a

/** What arrives is cut into some 64 KiB, and each piece is as much work on its way to a client as copying several. */
const PIECE_BYTES_MIN = 1024 * 1024

/**
 * Runs a query whose texts are lines, each with its end, and cuts what it returns into large pieces of whole lines.
 * @throws as `TraceDb.text`, and as {@link wholeLinesOf}.
 */
export function wholeLines(
  traces: Pick<TraceDb, 'text'>,
  query: Query,
  signal?: AbortSignal,
): AsyncGenerator<Buffer> {
  return wholeLinesOf(traces.text(query, signal), PIECE_BYTES_MIN)
}

/**
 * Makes pieces of whole lines from bytes that are cut anywhere; all but the last have at least `bytesMin`. Pieces that
 * hold whole lines, and enough of them, pass uncopied.
 * @throws Error when the bytes end within a line.
 */
export async function* wholeLinesOf(pieces: AsyncIterable<Buffer>, bytesMin = 0): AsyncGenerator<Buffer> {
  let held: Buffer[] = []
  let heldBytes = 0
  for await (const piece of pieces) {
    const end = piece.lastIndexOf(END_OF_LINE) + 1
    const isEnough = end > 0 && heldBytes + end >= bytesMin
    if (isEnough) {
      const whole = piece.subarray(0, end)
      yield held.length === 0 ? whole : Buffer.concat([...held, whole])
      held = []
      heldBytes = 0
    }
    const rest = isEnough ? piece.subarray(end) : piece
    if (rest.byteLength > 0) held.push(rest)
    heldBytes += rest.byteLength
  }
  const last = held.at(-1)
  if (last === undefined) return
  if (last.at(-1) !== END_OF_LINE) throw new Error('The trace database ended its reply within a line')
  yield Buffer.concat(held)
}
