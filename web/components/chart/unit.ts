import type { Line } from './line.ts'

/** The chart library has steps for its ticks up to 1e32 and down to 1e-32: beyond these it draws no labels. */
const SIZE_MAX = 1e15
const SIZE_MIN = 1e-15

/** What the values are drawn in: a power of ten where they are huge or tiny, else 1. */
export function unitOf(lines: readonly Pick<Line, 'values' | 'band'>[]): number {
  let largest = 0
  for (const { values, band } of lines)
    for (const row of band === undefined ? [values] : [values, band.low, band.high])
      for (const value of row) largest = Math.max(largest, Math.abs(value ?? 0))
  const isUsual = largest === 0 || (largest < SIZE_MAX && largest >= SIZE_MIN)
  return isUsual ? 1 : 10 ** Math.floor(Math.log10(largest))
}
