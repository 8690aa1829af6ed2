/** Tokens `[from, to)` of one line. */
export interface TokenLine {
  from: number
  to: number
}

/** Breaks tokens into lines of at most so many characters; a token with a line break ends its line. */
export function tokenLines(texts: readonly string[], columns: number): TokenLine[] {
  const lines: TokenLine[] = []
  let from = 0
  let used = 0
  for (const [index, text] of texts.entries()) {
    const width = shownText(text).length
    if (used > 0 && used + width > columns) {
      lines.push({ from, to: index })
      from = index
      used = 0
    }
    used += width
    if (text.includes('\n')) {
      lines.push({ from, to: index + 1 })
      from = index + 1
      used = 0
    }
  }
  if (from < texts.length) lines.push({ from, to: texts.length })
  return lines
}

/** The text shown for a token: line breaks and empty tokens are made visible. */
export function shownText(text: string): string {
  return text === '' ? '∅' : text.replaceAll('\n', '⏎').replaceAll('\t', '⇥')
}

/** The value below which a share of all lies. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
}

/**
 * Where the answer ends that stands last in a conversation: the template writes a line break behind the token that ends
 * it, and that token too where the model was cut off before it.
 */
export function sampledEnd(texts: readonly string[], finish: string | undefined): number {
  let end = texts.length
  while (end > 0 && (texts[end - 1] ?? '').trim() === '') end--
  return finish === 'length' ? end - 1 : end
}
