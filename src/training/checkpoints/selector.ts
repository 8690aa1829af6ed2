/** Selects a checkpoint of a model: a step, the newest, the best, or an artifact alias. */
export type Selector = number | 'latest' | 'best' | { alias: string }

/** Reads `3`, `step3`, `latest`, `best`, `v3` or a tag. */
export function parseSelector(text: string): Selector {
  const digits = /^(?:step)?(\d{1,15})$/.exec(text)?.[1]
  if (digits !== undefined) return Number(digits)
  return text === 'latest' || text === 'best' ? text : { alias: text }
}
