/**
 * The clock of the machine has milliseconds, and another that counts on has microseconds but stands still while the
 * machine sleeps. Where they are further apart than this, the machine has slept, or its clock was set, or corrected
 * little by little.
 */
const APART_MS_MAX = 2

/** Corrections of a clock are shorter. While it is behind by no more than this, times rise by a microsecond each. */
const BACK_MICROS_MAX = 1_000_000

/**
 * Now, as ISO 8601 in UTC with microseconds. Times of one process rise, so that of two things that it writes the later
 * one is known. They follow the clock of the machine, and where that was set back by more than a second they go back
 * with it: they would otherwise be wrong for as long. So what must come after something that is stored has {@link
 * nowAfter}, and what ends at a time has ended when {@link isoIn} says so, which follows the clock alone.
 */
export function nowIso(): string {
  const clockMs = Date.now()
  if (Math.abs(originMs + performance.now() - clockMs) > APART_MS_MAX) originMs = clockMs - performance.now()
  const micros = Math.floor((originMs + performance.now()) * 1000)
  lastMicros = lastMicros - micros > BACK_MICROS_MAX ? micros : Math.max(lastMicros + 1, micros)
  return isoOfMicros(lastMicros)
}

let originMs = performance.timeOrigin
let lastMicros = 0

/** After every time that is stored. */
export const LATER = '2100-01-01T00:00:00Z'

/** The wall-clock time in `ms` milliseconds, which may be negative, as ISO 8601 in UTC with microseconds. */
export function isoIn(ms: number): string {
  return isoOfMicros(Math.round((Date.now() + ms) * 1000))
}

export const DAY_MS = 86_400_000

/** When a day began in UTC that was `days` before today, as ISO 8601. */
export function dayBefore(days: number): string {
  return new Date((Math.floor(Date.now() / DAY_MS) - days) * DAY_MS).toISOString()
}

/**
 * Now, but after the given times, as ISO 8601 in UTC with microseconds: the order of two writes must not depend on the
 * clock of the machine, which may have been set back between them.
 */
export function nowAfter(times: readonly (string | null | undefined)[]): string {
  const latest = times.reduce<number>((max, time) => (time ? Math.max(max, microsOf(time)) : max), 0)
  const now = nowIso()
  return latest < microsOf(now) ? now : isoOfMicros(latest + 1)
}

const ISO_PATTERN =
  /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?)(?:\.(\d+))?\s*(Z|[+-]\d{2}:?\d{2})?)?$/i

/** A date-time in UTC on a day that every month has, as most programs write it. */
const UTC_PATTERN =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?Z$/

/** Characters of a date-time before its fraction. */
const SECOND_CHARS = 19

/**
 * Any ISO 8601 date or date-time as UTC with microseconds; undefined for other texts. Wire: a text without offset
 * counts as UTC, a bare date as midnight.
 */
export function isoMicros(text: string): string | undefined {
  // Each call has two times, and to parse one into a Date and write it again takes twelve times as long.
  if (UTC_PATTERN.test(text))
    return `${text.slice(0, SECOND_CHARS)}.${sixDigits(text.slice(SECOND_CHARS + 1, -1))}Z`
  const [, date, clock = '00:00:00', fraction = '', offset = 'Z'] = ISO_PATTERN.exec(text.trim()) ?? []
  if (date === undefined || !isInCalendar(date)) return undefined
  const zone =
    offset.length === 5 && offset !== 'Z' ? `${offset.slice(0, 3)}:${offset.slice(3)}` : offset.toUpperCase()
  const millis = Date.parse(`${date}T${clock.length === 5 ? `${clock}:00` : clock}${zone}`)
  if (Number.isNaN(millis)) return undefined
  return new Date(millis).toISOString().replace('.000Z', `.${sixDigits(fraction)}Z`)
}

function sixDigits(fraction: string): string {
  return fraction.slice(0, 6).padEnd(6, '0')
}

/** `Date.parse` takes 30 February for 2 March. */
function isInCalendar(date: string): boolean {
  if (Number(date.slice(8)) <= 28) return true
  const millis = Date.parse(date)
  return !Number.isNaN(millis) && new Date(millis).toISOString().startsWith(date)
}

/**
 * The text of a time given in seconds since 1970. A double cannot hold most microseconds, so the nearest one is meant:
 * until the year 2242 that is the one from which the double was made.
 */
export function isoOfSeconds(seconds: number): string {
  const whole = Math.floor(seconds)
  return isoOfMicros(whole * 1_000_000 + Math.round((seconds - whole) * 1_000_000))
}

/** The text of a time given in whole microseconds since 1970. */
export function isoOfMicros(micros: number): string {
  const second = Math.floor(micros / 1_000_000)
  // Lists show many times of one second, and a Date takes longer to write than all the rest.
  if (second !== shownSecond) {
    shownSecond = second
    shownText = new Date(second * 1000).toISOString().slice(0, 20)
  }
  return `${shownText}${String(micros - second * 1_000_000).padStart(6, '0')}Z`
}

let shownSecond = Number.NaN
let shownText = ''

/** Microseconds since 1970 of a text as {@link isoMicros} writes it. */
export function microsOf(iso: string): number {
  return Date.parse(`${iso.slice(0, 19)}Z`) * 1000 + Number(iso.slice(20, 26))
}
