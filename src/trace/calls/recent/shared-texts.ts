/** Texts that are remembered; few projects have more names, users and threads among their newest calls. */
const TEXTS_MAX = 1000

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
