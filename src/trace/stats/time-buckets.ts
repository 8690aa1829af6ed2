import { isoOfMicros, microsOf, nowIso } from '../../time.ts'
import { ValidationFailure } from '../../wire/validation-error.ts'
import { dateTimeAt } from '../date-time.ts'

/** Wire: longer ranges are refused. */
const DAYS_MAX = 31

/** Wire: buckets grow until there are no more than this. */
const BUCKETS_MAX = 10_000

const HOUR = 3600
const DAY = 24 * HOUR
/** A larger bucket, of which a range has one or two, would begin before there are years. */
const CENTURY = 36_525 * DAY
const MICROS = 1_000_000

/** Wire: seconds of a bucket where the request names none, for ranges up to this many seconds. */
const GRANULARITIES = [
  { rangeMax: 2 * HOUR, granularity: 300 },
  { rangeMax: 12 * HOUR, granularity: HOUR },
  { rangeMax: 3 * DAY, granularity: 6 * HOUR },
  { rangeMax: 14 * DAY, granularity: 12 * HOUR },
]

/** Equal intervals of a range of time; `first` is the start of the first, in seconds since 1970. */
export interface TimeBuckets {
  start: string
  end: string
  granularity: number
  timezone: string
  first: number
  count: number
}

/**
 * The buckets of a range: they begin where multiples of the granularity do by the clock of the timezone, at its offset
 * when the range starts, so that all of them are of one length.
 * @throws 422 for a range that ends before it starts or is too long, and for an unknown timezone.
 */
export function timeBuckets(range: {
  start: string
  end?: string | null | undefined
  granularity?: number | null | undefined
  timezone: string
}): TimeBuckets {
  const { start, end } = timeRange(range)
  const [from, to] = [microsOf(start) / MICROS, microsOf(end) / MICROS]
  const seconds = to - from
  const wanted = range.granularity ?? GRANULARITIES.find(({ rangeMax }) => seconds <= rangeMax)?.granularity
  const granularity = Math.max(Math.min(wanted ?? DAY, CENTURY), Math.ceil(seconds / BUCKETS_MAX))
  const offset = offsetSeconds(range.timezone, from)
  const first = Math.floor((from + offset) / granularity) * granularity - offset
  const count = seconds === 0 ? 0 : Math.ceil((to - first) / granularity)
  return { start, end, granularity, timezone: range.timezone, first, count }
}

/** When a range starts and ends, in UTC. @throws 422 for one that ends before it starts or is too long. */
export function timeRange(range: { start: string; end?: string | null | undefined }): {
  start: string
  end: string
} {
  const start = dateTimeAt(['start'], range.start)
  const end = range.end == null ? nowIso() : dateTimeAt(['end'], range.end)
  if (end < start) throw invalid('end', 'The end must be after the start', range.end)
  if (microsOf(end) - microsOf(start) > DAYS_MAX * DAY * MICROS)
    throw invalid('start', `The range must not be longer than ${DAYS_MAX} days`, range.start)
  return { start, end }
}

/** The start of each bucket. */
export function timestamps({ first, granularity, count }: TimeBuckets): string[] {
  return Array.from({ length: count }, (_, index) => isoOfMicros((first + index * granularity) * MICROS))
}

/** Seconds by which the clocks of a timezone are ahead of UTC. */
function offsetSeconds(timezone: string, at: number): number {
  const name = formatOf(timezone)
    .formatToParts(new Date(at * 1000))
    .find(({ type }) => type === 'timeZoneName')
  const [, sign, hours = 0, minutes = 0] = /([+-])(\d+):(\d+)/.exec(name?.value ?? '') ?? []
  return (sign === '-' ? -1 : 1) * (Number(hours) * HOUR + Number(minutes) * 60)
}

function formatOf(timezone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: timezone, timeZoneName: 'longOffset' })
  } catch {
    throw invalid('timezone', 'Input should be the name of a timezone', timezone)
  }
}

function invalid(field: string, msg: string, input: unknown): ValidationFailure {
  return new ValidationFailure([{ type: 'value_error', loc: ['body', field], msg, input }])
}
