/**
 * A reply says its time in whole seconds, and takes a moment to arrive: clocks that differ by less are taken for equal.
 */
const EQUAL_MS = 2_000

/** How far the server's clock is ahead of the browser's, in milliseconds. */
let aheadMs = 0

/** Learns the server's time from the header `Date` of a reply. */
export function noteServerTime(date: string | null): void {
  const ahead = Date.parse(date ?? '') - Date.now()
  if (!Number.isNaN(ahead)) aheadMs = Math.abs(ahead) < EQUAL_MS ? 0 : ahead
}

/** The server's present, in milliseconds since 1970. */
export function serverNow(): number {
  return Date.now() + aheadMs
}
