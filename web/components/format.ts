/** Numbers as people read them: short, of one shape per kind, so that columns of them line up. */

/** Shown for what is not known; never 0. */
export const MISSING = '–'

const MINUS = '\u2212'
const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

type Maybe = number | null | undefined

/** `0.84 ms`, `12.3 ms`, `1.24 s`, `2 m 05 s`, `3 h 12 m`, `4 d 02 h`. */
export function formatDuration(ms: Maybe): string {
  if (ms == null || !Number.isFinite(ms)) return MISSING
  const size = Math.abs(ms)
  const sign = ms < 0 ? MINUS : ''
  if (size < 999.5) return `${sign}${threeDigits(size)} ms`
  if (size < 59_995) return `${sign}${threeDigits(size / SECOND)} s`
  if (size < HOUR - SECOND / 2)
    return sign + twoUnits(size, { large: MINUTE, small: SECOND, names: ['m', 's'] })
  if (size < DAY - MINUTE / 2) return sign + twoUnits(size, { large: HOUR, small: MINUTE, names: ['h', 'm'] })
  return sign + twoUnits(size, { large: DAY, small: HOUR, names: ['d', 'h'] })
}

function twoUnits(
  ms: number,
  { large, small, names }: { large: number; small: number; names: [string, string] },
): string {
  const whole = Math.round(ms / small)
  const ratio = large / small
  const rest = String(whole % ratio).padStart(2, '0')
  return `${Math.floor(whole / ratio)} ${names[0]} ${rest} ${names[1]}`
}

/** `934`, `12.3k`, `1.20M`: tokens, calls, anything that is counted. */
export function formatCount(count: Maybe): string {
  if (count == null || !Number.isFinite(count)) return MISSING
  const size = Math.abs(count)
  const sign = count < 0 ? MINUS : ''
  if (size < 999.5) return sign + trimmed(size)
  if (size < 999_500) return `${sign}${threeDigits(size / 1e3)}k`
  if (size < 999_500_000) return `${sign}${threeDigits(size / 1e6)}M`
  return `${sign}${threeDigits(size / 1e9)}B`
}

/** `$1.24`, `$0.00042` below a cent, `$4.2e−6` below a hundredth of that; what has no price is missing and not free. */
export function formatCost(usd: Maybe): string {
  if (usd == null || !Number.isFinite(usd)) return MISSING
  const size = Math.abs(usd)
  const sign = usd < 0 ? MINUS : ''
  if (size === 0) return '$0'
  if (size >= 0.00995)
    return `${sign}$${size.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`
  if (size < 0.000_095) return `${sign}$${size.toExponential(1).replace('-', MINUS)}`
  return `${sign}$${size.toFixed(1 - Math.floor(Math.log10(size)))}`
}

/** `12.3 %` of a share from 0 to 1. */
export function formatShare(share: Maybe): string {
  return percent(share, '%')
}

/** `12.3 pp` of the difference of two shares, in percentage points. */
export function formatPoints(difference: Maybe): string {
  return percent(difference, 'pp')
}

function percent(share: Maybe, unit: string): string {
  if (share == null || !Number.isFinite(share)) return MISSING
  const sign = share < 0 ? MINUS : ''
  return `${sign}${(Math.abs(share) * 100).toFixed(1)}\u202f${unit}`
}

/** Beyond it, numbers have more digits than they are exact to. */
const GROUPED_MAX = 1e15

/**
 * Any number: three significant digits, thousands grouped; `1.07e−7` and `2.50e15` where most digits would say nothing.
 */
export function formatNumber(value: Maybe): string {
  if (value == null || !Number.isFinite(value)) return MISSING
  const size = Math.abs(value)
  if ((size !== 0 && size < 1e-4) || size >= GROUPED_MAX)
    return value.toExponential(2).replaceAll('-', MINUS).replace('+', '')
  const text = size.toLocaleString('en', {
    maximumSignificantDigits: size >= 1000 ? 21 : 3,
    maximumFractionDigits: 3,
  })
  return value < 0 ? MINUS + text : text
}

/** A difference with its sign, in the form of its kind: `+1.24 s`, `−3`, `±0`. */
export function formatDelta(value: Maybe, format: (value: Maybe) => string = formatNumber): string {
  if (value == null || !Number.isFinite(value)) return MISSING
  if (value === 0) return '±0'
  return value > 0 ? `+${format(value)}` : format(value)
}

/** `512 B`, `12.3 kB`, `1.20 MB`. */
export function formatBytes(bytes: Maybe): string {
  if (bytes == null || !Number.isFinite(bytes)) return MISSING
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  let size = bytes
  let unit = 0
  for (; size >= 999.5 && unit < units.length - 1; unit++) size /= 1000
  return `${unit === 0 ? size : threeDigits(size)} ${units[unit]}`
}

/** `0.84`, `1.24`, `12.3`, `123`. */
function threeDigits(value: number): string {
  if (value < 9.995) return value.toFixed(2)
  return value < 99.95 ? value.toFixed(1) : value.toFixed(0)
}

function trimmed(value: number): string {
  return Number.isInteger(value) ? String(value) : threeDigits(value)
}

/** `now`, `12 s ago`, `3 min ago`, `5 h ago` under a day; then `Nov 21 08:41`, with the year when it is another. */
export function formatTime(iso: string | null | undefined, now = Date.now()): string {
  const at = iso == null ? Number.NaN : Date.parse(iso)
  if (Number.isNaN(at)) return MISSING
  const age = now - at
  if (age >= 0 && age < 5 * SECOND) return 'now'
  if (age >= 0 && age < MINUTE) return `${Math.floor(age / SECOND)} s ago`
  if (age >= 0 && age < HOUR) return `${Math.floor(age / MINUTE)} min ago`
  if (age >= 0 && age < DAY) return `${Math.floor(age / HOUR)} h ago`
  return formatDate(at, now)
}

// Made once: that takes thirty times as long as using one, and tables have a time in each row.
const DAY_TEXT = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric' })
const CLOCK_TEXT = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hour12: false })
const EXACT_TEXT = new Intl.DateTimeFormat('sv', {
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
})

/** `Nov 21 08:41` in the person's own time zone. */
export function formatDate(at: number, now = Date.now()): string {
  const date = new Date(at)
  const day = DAY_TEXT.format(date)
  const clock = CLOCK_TEXT.format(date)
  return date.getFullYear() === new Date(now).getFullYear()
    ? `${day} ${clock}`
    : `${day} ${date.getFullYear()} ${clock}`
}

/** For a tooltip: the moment in this zone and in UTC, to the millisecond. */
export function exactTime(iso: string): string {
  const date = new Date(iso)
  if (Number.isNaN(date.getTime())) return iso
  const local = EXACT_TEXT.format(date).replace(',', '.')
  return `${local} local\n${date.toISOString().replace('T', ' ').replace('Z', ' UTC')}`
}
