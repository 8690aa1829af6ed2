import type { Line } from './line.ts'

/** A value as a log scale can have it: nothing of what is not above 0. */
export function aboveZero(value: number | null | undefined): number | null {
  return value != null && value > 0 ? value : null
}

/** Which scale can show the values where a log scale is requested, and what to say of those that it cannot show. */
export function logScaleFor(lines: readonly Pick<Line, 'values'>[]): {
  scale: 'linear' | 'log'
  note: string
} {
  const known = lines.flatMap(({ values }) => values.filter((value) => value !== null))
  const hidden = known.filter((value) => value <= 0).length
  if (hidden === 0) return { scale: 'log', note: '' }
  if (hidden === known.length)
    return { scale: 'linear', note: 'No value is above 0, so the scale is linear.' }
  const count = hidden.toLocaleString('en')
  const are = hidden === 1 ? '1 value is' : `${count} values are`
  return {
    scale: 'log',
    note: `${are} 0 or below: a log scale has no place for ${hidden === 1 ? 'it' : 'them'}.`,
  }
}
