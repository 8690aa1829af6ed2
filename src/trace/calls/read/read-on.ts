/**
 * Reads a source to its end, however slowly the pieces are taken: no query waits for a client. All that is not taken
 * yet is in memory. The error of a source that fails comes after its pieces; it is dropped if they are not taken.
 */
export function readOn<Piece>(source: AsyncIterable<Piece>): AsyncGenerator<Piece> {
  const pieces: Piece[] = []
  let isDone = false
  let more = Promise.withResolvers<void>()

  async function readAll(): Promise<void> {
    try {
      for await (const piece of source) {
        pieces.push(piece)
        more.resolve()
      }
    } finally {
      isDone = true
      more.resolve()
    }
  }

  async function* taken(reading: Promise<void>): AsyncGenerator<Piece> {
    for (;;) {
      const piece = pieces.shift()
      if (piece !== undefined) yield piece
      else if (isDone) return await reading
      else {
        more = Promise.withResolvers()
        await more.promise
      }
    }
  }

  const reading = readAll()
  reading.catch(() => {})
  return taken(reading)
}
