const LINE_FEED = 0x0a

/**
 * Cuts bytes that arrive in pieces into lines, without their line feeds. Bytes are copied once, when their line ends.
 */
export interface LineCutter {
  /** The lines that end in this piece. */
  push(piece: Uint8Array): Generator<Buffer>
  /** Bytes of the line that has not ended. */
  heldBytes(): number
  /** The line that has not ended: the last, if no line feed follows it. */
  rest(): Buffer
}

/** Only a line feed ends a line: JSON may have other characters that some programs take for its end. */
export function createLineCutter(): LineCutter {
  let held: Uint8Array[] = []
  let heldBytes = 0

  function hold(bytes: Uint8Array): void {
    if (bytes.byteLength === 0) return
    held.push(bytes)
    heldBytes += bytes.byteLength
  }

  function take(): Buffer {
    const line = Buffer.concat(held, heldBytes)
    held = []
    heldBytes = 0
    return line
  }

  return {
    *push(piece) {
      let from = 0
      for (let at = piece.indexOf(LINE_FEED); at !== -1; at = piece.indexOf(LINE_FEED, from)) {
        hold(piece.subarray(from, at))
        from = at + 1
        yield take()
      }
      hold(piece.subarray(from))
    },
    heldBytes: () => heldBytes,
    rest: take,
  }
}
