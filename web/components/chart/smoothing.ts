/**
 * An exponential moving average that forgets by distance on the x axis and not by number of points, and that does not
 * begin near zero. At even distances it is the usual one; the larger a gap, the less of what lies before it counts.
 * @param weight 0 for none, below 1
 */
export function smoothed(
  xs: readonly number[],
  ys: readonly (number | null)[],
  weight: number,
): (number | null)[] {
  if (weight <= 0) return [...ys]
  const gap = medianGap(xs)
  let sum = 0
  let share = 0
  let last: number | undefined
  return ys.map((y, index) => {
    const x = xs[index] ?? 0
    if (y === null || !Number.isFinite(y)) return null
    const decay = last === undefined ? 0 : weight ** ((x - last) / gap)
    last = x
    sum = sum * decay + y
    share = share * decay + 1
    return sum / share
  })
}

function medianGap(xs: readonly number[]): number {
  const gaps = xs
    .slice(1)
    .map((x, index) => x - (xs[index] ?? 0))
    .filter((gap) => gap > 0)
    .sort((a, b) => a - b)
  return gaps[Math.floor(gaps.length / 2)] ?? 1
}
