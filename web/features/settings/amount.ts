/** Commas separate thousands: elsewhere one may mean a decimal point, and "1,50" must not count as 150. */
const AMOUNT = /^(?:\d*|\d{1,3}(?:,\d{3})+)(?:\.\d+)?$/

/** The number that somebody typed; undefined for a text that is no number, or could mean two. */
export function amountIn(text: string): number | undefined {
  const trimmed = text.trim()
  return trimmed !== '' && AMOUNT.test(trimmed) ? Number(trimmed.replaceAll(',', '')) : undefined
}
