/** The one in the middle of some numbers, or the mean of the two there; NaN for none. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  return ((sorted[Math.ceil(middle) - 1] ?? Number.NaN) + (sorted[Math.floor(middle)] ?? Number.NaN)) / 2
}

/** As in `12.3 (11.0 to 14.5)`: the median, the lowest and the highest. */
export function spread(numbers: readonly number[], digits: number): string {
  const [middle, low, high] = [median(numbers), Math.min(...numbers), Math.max(...numbers)]
  return `${middle.toFixed(digits)} (${low.toFixed(digits)} to ${high.toFixed(digits)})`
}

/** The number that so many percent of the others do not exceed; NaN for none. */
export function percentile(numbers: readonly number[], percent: number): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  const place = Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))
  return sorted[place] ?? Number.NaN
}
