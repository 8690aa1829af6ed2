import { formatDate } from '../../components/format.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

const ALL = { value: 'all', label: 'All time', ms: Number.POSITIVE_INFINITY }

/** Ranges that end now, shortest first. */
export const PRESETS = [
  { value: '15m', label: 'Last 15 minutes', ms: HOUR / 4 },
  { value: '1h', label: 'Last hour', ms: HOUR },
  { value: '24h', label: 'Last 24 hours', ms: DAY },
  { value: '7d', label: 'Last 7 days', ms: 7 * DAY },
  { value: '30d', label: 'Last 30 days', ms: 30 * DAY },
  ALL,
]

/** The ranges tried, one after the other, where none was chosen. */
const WIDENING = ['24h', '7d', '30d']

/** From a moment, to one; both in milliseconds. */
export interface TimeSpan {
  from: number | undefined
  to: number
  label: string
  /** Why it is not what one might expect. */
  note?: string
}

/** The span that a range means, seen from `now`; `newest` is when the last call started. */
export function timeSpan(range: string, now: number, newest: number | undefined): TimeSpan {
  const fixed = fixedSpan(range)
  if (fixed !== undefined) return fixed
  const preset = PRESETS.find(({ value }) => value === range)
  if (preset !== undefined) return spanOf(preset, now)
  const fits = PRESETS.filter(({ value }) => WIDENING.includes(value)).find(
    ({ ms }) => newest === undefined || newest > now - ms,
  )
  const span = spanOf(fits ?? ALL, now)
  return fits?.value === '24h' ? span : { ...span, note: 'Nothing came in the last 24 hours' }
}

/** A span as the address has it. */
export function rangeOf(from: number, to: number): string {
  return `${new Date(from).toISOString()}..${new Date(to).toISOString()}`
}

function spanOf({ ms, label }: typeof ALL, now: number): TimeSpan {
  return { from: Number.isFinite(ms) ? now - ms : undefined, to: now, label }
}

function fixedSpan(range: string): TimeSpan | undefined {
  const [start, end] = range.split('..')
  const from = Date.parse(start ?? '')
  const to = Date.parse(end ?? '')
  if (Number.isNaN(from) || Number.isNaN(to) || from >= to) return undefined
  return { from, to, label: `${formatDate(from)} – ${formatDate(to)}` }
}
