const MINUS = '\u2212'

/** The label of a tick: as many digits as tell it from its neighbour, which is `step` away. */
export function tickText(value: number, step: number): string {
  const size = Math.abs(step)
  if (value === 0) return '0'
  if (size < 1e-4 || Math.abs(value) >= 1e6)
    return value.toExponential(1).replace('+', '').replaceAll('-', MINUS)
  const digits = Math.max(0, -Math.floor(Math.log10(size) + 1e-9))
  // A step of 0.025 has a digit more than its size says.
  const exact = Math.abs(Math.round(size * 10 ** digits) - size * 10 ** digits) > 1e-6 ? digits + 1 : digits
  const text = Math.abs(value).toLocaleString('en', {
    minimumFractionDigits: exact,
    maximumFractionDigits: exact,
  })
  return value < 0 ? MINUS + text : text
}
