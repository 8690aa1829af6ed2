/**
 * Texts that are remembered; most projects have fewer names and users. They are not counted as memory: they take 0.1 MB
 * at most.
 */
const TEXTS_MAX = 256

/** Longer texts are rarely repeated, and would be kept although their calls are evicted. */
const CHARS_MAX = 200

/** Replaces equal texts by one, which takes the memory of one. */
export function createSharedTexts(): (text: string) => string {
  const known = new Map<string, string>()
  return (text) => {
    if (text.length > CHARS_MAX) return text
    const same = known.get(text)
    if (same !== undefined) return same
    if (known.size >= TEXTS_MAX) known.clear()
    known.set(text, text)
    return text
  }
}
