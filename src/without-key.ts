/** Replacement for a key. */
const REPLACEMENT = '[key]'

/** Shorter texts are not keys, and may occur anywhere. */
const KEY_CHARS_MIN = 8

/** Removes a key from a text, in which a service has repeated it. */
export function withoutKey(text: string, key: string | undefined): string {
  return key === undefined || key.length < KEY_CHARS_MIN ? text : text.replaceAll(key, REPLACEMENT)
}

/** Removes a key from a stream, even where chunks divide it. */
export function keyRemover(key: string | undefined): TransformStream<Uint8Array, Uint8Array> {
  // One character a byte, so that a chunk may end within a character.
  const wanted = key === undefined || key.length < KEY_CHARS_MIN ? '' : Buffer.from(key).toString('latin1')
  let held = ''
  return new TransformStream({
    transform(chunk, controller) {
      if (wanted === '') return controller.enqueue(chunk)
      const text = (held + Buffer.from(chunk).toString('latin1')).replaceAll(wanted, REPLACEMENT)
      const kept = beginningOf(wanted, text)
      held = text.slice(text.length - kept)
      if (kept < text.length) controller.enqueue(Buffer.from(text.slice(0, text.length - kept), 'latin1'))
    },
    flush(controller) {
      if (held !== '') controller.enqueue(Buffer.from(held, 'latin1'))
    },
  })
}

/** How many characters at the end of a text may be the beginning of the key. */
function beginningOf(wanted: string, text: string): number {
  for (let length = Math.min(wanted.length - 1, text.length); length > 0; length--)
    if (wanted.startsWith(text.slice(text.length - length))) return length
  return 0
}
