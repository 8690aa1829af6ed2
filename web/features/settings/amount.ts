/** Commas separate thousands: elsewhere one may mean a decimal point, and "1,50" must not count as 150. */
const AMOUNT = /^(?:\d*|\d{1,3}(?:,\d{3})+)(?:\.\d+)?$/

/** Elsewhere points separate thousands, and "10.000" is ten thousand. Thousands do not begin with a zero. */
const OF_TWO_MEANINGS = /^[1-9]\d{0,2}\.\d{3}$/

/** The number that somebody typed; undefined for a text that is no number, or could mean two. */
export function amountIn(text: string): number | undefined {
  const trimmed = text.trim()
  if (trimmed === '' || !AMOUNT.test(trimmed) || OF_TWO_MEANINGS.test(trimmed)) return undefined
  return Number(trimmed.replaceAll(',', ''))
}
