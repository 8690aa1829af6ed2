/** The value of JSON with empty texts in place of its texts, which summaries do not look into and which may be long. */
export function withoutTexts(text: string): unknown {
  return JSON.parse(text, (_key, value: unknown) => (typeof value === 'string' ? '' : value))
}
