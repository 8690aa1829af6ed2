import { describe, expect, it } from 'vitest'
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
