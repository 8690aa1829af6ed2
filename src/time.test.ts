import { afterEach, describe, expect, it, vi } from 'vitest'
import { isoMicros, isoOfMicros, isoOfSeconds, microsOf, nowAfter, nowIso } from './time.ts'

/** Up to this time, doubles of seconds distinguish all microseconds. */
const MICROS_MAX = Date.UTC(2242, 0, 1) * 1000

describe('isoOfSeconds', () => {
  it('is the microsecond of which the double was made, for any time', () => {
    for (let index = 0; index < 20_000; index++) {
      const micros = Math.floor((Math.random() * 2 - 0.2) * (MICROS_MAX / 2))
      expect(isoOfSeconds(micros / 1e6), `${micros} µs`).toBe(isoOfMicros(micros))
    }
  })
})

describe('isoOfMicros and microsOf', () => {
  it('are each the other way round, before 1970 too, and as isoMicros writes times', () => {
    for (const micros of [0, -1, -1_000_001, 1, 999_999, 1_767_225_600_123_456]) {
      const iso = isoOfMicros(micros)
      expect(microsOf(iso)).toBe(micros)
      expect(isoMicros(iso)).toBe(iso)
    }
  })
})

describe('isoMicros', () => {
  it('reads times in UTC as it reads the same times with an offset of zero', () => {
    const dates = [
      '2026-01-28',
      '2026-02-28',
      '2026-02-29',
      '2024-02-29',
      '2026-12-31',
      '2026-13-01',
      '0001-01-01',
    ]
    const clocks = ['00:00:00', '23:59:59', '24:00:00', '24:00:01', '12:60:00', '12:00:60', '05:06']
    const fractions = ['', '.5', '.123', '.123456', '.1234567', '.']
    for (const date of dates)
      for (const clock of clocks)
        for (const fraction of fractions) {
          const text = `${date}T${clock}${fraction}`
          expect(isoMicros(`${text}Z`), text).toBe(isoMicros(`${text}+00:00`))
        }
  })

  it('has six digits of a second, cut and not rounded', () => {
    expect(isoMicros('2026-01-05T01:02:03Z')).toBe('2026-01-05T01:02:03.000000Z')
    expect(isoMicros('2026-01-05T01:02:03.1234569Z')).toBe('2026-01-05T01:02:03.123456Z')
    expect(isoMicros('2026-01-05T01:02:03.5+01:00')).toBe('2026-01-05T00:02:03.500000Z')
  })
})

describe('nowIso', () => {
  afterEach(() => void vi.restoreAllMocks())

  /** Now, in milliseconds, with the clock set to a time. */
  function atMs(clockMs: number): number {
    vi.spyOn(Date, 'now').mockReturnValue(clockMs)
    return microsOf(nowIso()) / 1000
  }

  const START_MS = Date.UTC(2026, 0, 1)
  const HOUR_MS = 3_600_000
  /** Of the clock that counts on while this one stands still; far less than the clock is set by. */
  const APART_MS = 60_000

  it('follows the clock of the machine, ahead and far back', () => {
    for (const clockMs of [START_MS, START_MS + 8 * HOUR_MS, START_MS - 3 * HOUR_MS, START_MS]) {
      const now = atMs(clockMs)
      expect(now).toBeGreaterThanOrEqual(clockMs)
      expect(now).toBeLessThan(clockMs + APART_MS)
    }
  })

  it('rises where the clock is set back a little, and among times of one moment', () => {
    const times = [START_MS, START_MS, START_MS - 500, START_MS - 900].map(atMs)
    expect(times).toEqual(times.toSorted((one, other) => one - other))
    expect(new Set(times).size).toBe(times.length)
  })
})

describe('nowAfter', () => {
  it('is now, or a microsecond after the latest of the times', () => {
    const before = nowIso()
    expect(nowAfter([]) > before).toBe(true)
    expect(nowAfter([before, null, undefined]) > before).toBe(true)
    expect(nowAfter(['2020-01-01T00:00:00.000000Z', '2090-01-01T00:00:00.000009Z'])).toBe(
      '2090-01-01T00:00:00.000010Z',
    )
  })
})
