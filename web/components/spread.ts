/** How values lie: the smallest, the quarters, the largest. */
export interface Spread {
  min: number
  q1: number
  median: number
  q3: number
  max: number
}

/** The spread of values in any order; undefined of none. Between two values quartiles lie in proportion, as NumPy's. */
export function spreadOf(values: readonly number[]): Spread | undefined {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number): number => {
    const place = share * (sorted.length - 1)
    const [low, high] = [sorted[Math.floor(place)] ?? 0, sorted[Math.ceil(place)] ?? 0]
    return low + (high - low) * (place - Math.floor(place))
  }
  if (sorted.length === 0) return undefined
  return { min: at(0), q1: at(0.25), median: at(0.5), q3: at(0.75), max: at(1) }
}

/** From the smallest to the largest of all values, and never of no length. */
export function rangeOf(values: readonly number[]): [number, number] {
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const value of values) {
    if (value < min) min = value
    if (value > max) max = value
  }
  if (min > max) return [0, 1]
  return min === max ? [min - 0.5, max + 0.5] : [min, max]
}
