import { createLineCutter } from '../../line-cutter.ts'
import type { Blobs } from '../../stores/blobs/port.ts'

/**
 * The lines of a blob, of which memory holds the one that is read: `readline` would read a thousand ahead.
 * @throws Error for a missing blob.
 */
export async function* linesOf(blobs: Pick<Blobs, 'open'>, key: string): AsyncGenerator<Buffer> {
  const found = await blobs.open(key)
  if (found === undefined) throw new Error(`The trajectories ${key} are missing`)
  try {
    const cutter = createLineCutter()
    for await (const piece of found.bytes as AsyncIterable<Uint8Array>) {
      yield* cutter.push(piece)
    }
    if (cutter.heldBytes() > 0) yield cutter.rest()
  } finally {
    found.bytes.destroy()
  }
}
