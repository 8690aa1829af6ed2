/** What stands in place of a key. */
const REPLACEMENT = '[key]'

/** Shorter texts are no keys, and may stand anywhere. */
const KEY_CHARS_MIN = 8

/** A text without a key that a service has repeated in it. */
export function withoutKey(text: string, key: string | undefined): string {
  return key === undefined || key.length < KEY_CHARS_MIN ? text : text.replaceAll(key, REPLACEMENT)
}

/** Passes bytes on without a key, wherever chunks part it. */
export function keyRemover(key: string | undefined): TransformStream<Uint8Array, Uint8Array> {
  // One character a byte, so that a chunk may end in the middle of one of several.
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

/** How many characters at the end of a text may begin what is wanted. */
function beginningOf(wanted: string, text: string): number {
  for (let length = Math.min(wanted.length - 1, text.length); length > 0; length--)
    if (wanted.startsWith(text.slice(text.length - length))) return length
  return 0
}
