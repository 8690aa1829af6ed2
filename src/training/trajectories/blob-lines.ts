import type { Blobs } from '../../stores/blobs/port.ts'

const LINE_FEED = 0x0a

/**
 * The lines of a blob, of which memory holds the one that is read: `readline` would read a thousand ahead. Only a line feed
 * ends one; JSON may have other characters that some programs take for the end of a line.
 * @throws Error for a missing blob.
 */
export async function* linesOf(blobs: Pick<Blobs, 'open'>, key: string): AsyncGenerator<string> {
  const found = await blobs.open(key)
  if (found === undefined) throw new Error(`The trajectories ${key} are missing`)
  try {
    let held: Uint8Array[] = []
    for await (const piece of found.bytes as AsyncIterable<Uint8Array>) {
      let from = 0
      for (let at = piece.indexOf(LINE_FEED); at !== -1; at = piece.indexOf(LINE_FEED, from)) {
        yield Buffer.concat([...held, piece.subarray(from, at)]).toString()
        held = []
        from = at + 1
      }
      if (from < piece.byteLength) held.push(piece.subarray(from))
    }
    if (held.length > 0) yield Buffer.concat(held).toString()
  } finally {
    found.bytes.destroy()
  }
}
