/** Milliseconds between two moments; null while one of them has not come. */
export function timeBetween(from: string | null, to: string | null): number | null {
  return from === null || to === null ? null : Date.parse(to) - Date.parse(from)
}
