/** Texts that are remembered; projects have fewer different names, users and threads among their newest calls. */
const TEXTS_MAX = 10_000

/** Replaces equal texts by one, which takes the memory of one. */
export function createSharedTexts(): (text: string) => string {
  const known = new Map<string, string>()
  return (text) => {
    const same = known.get(text)
    if (same !== undefined) return same
    if (known.size >= TEXTS_MAX) known.clear()
    known.set(text, text)
    return text
  }
}
