import { describe, expect, it } from 'vitest'
import {
  exactTime,
  formatBytes,
  formatCost,
  formatCount,
  formatDelta,
  formatDuration,
  formatNumber,
  formatPoints,
  formatShare,
  formatTime,
} from './format.ts'

describe('formatDuration', () => {
  it.each([
    [0.84, '0.84 ms'],
    [12.34, '12.3 ms'],
    [999.4, '999 ms'],
    [999.6, '1.00 s'],
    [1240, '1.24 s'],
    [59_994, '60.0 s'],
    [59_996, '1 m 00 s'],
    [125_000, '2 m 05 s'],
    [3_599_600, '1 h 00 m'],
    [11_520_000, '3 h 12 m'],
    [93_600_000, '1 d 02 h'],
    [0, '0.00 ms'],
    [-1500, '−1.50 s'],
    [null, '–'],
    [undefined, '–'],
    [Number.NaN, '–'],
  ])('%s → %s', (ms, text) => expect(formatDuration(ms)).toBe(text))
})

describe('formatCount', () => {
  it.each([
    [0, '0'],
    [934, '934'],
    [12_345, '12.3k'],
    [999_499, '999k'],
    [999_500, '1.00M'],
    [1_200_000, '1.20M'],
    [2_000_000_000, '2.00B'],
    [null, '–'],
  ])('%s → %s', (count, text) => expect(formatCount(count)).toBe(text))
})

describe('formatCost', () => {
  it.each([
    [0, '$0'],
    [0.00042, '$0.00042'],
    [0.000_000_3, '$3.0e−7'],
    [0.000_012, '$1.2e−5'],
    [0.0099, '$0.0099'],
    [0.01, '$0.01'],
    [1.239, '$1.24'],
    [1234.5, '$1,234.50'],
    [null, '–'],
  ])('%s → %s', (usd, text) => expect(formatCost(usd)).toBe(text))
})

describe('the rest', () => {
  it('has a real minus, a sign and no false zero', () => {
    expect(formatShare(0.123)).toBe('12.3\u202f%')
    expect(formatNumber(-0.12345)).toBe('−0.123')
    expect(formatNumber(123_456)).toBe('123,456')
    expect(formatNumber(-0.000000107)).toBe('−1.07e−7')
    expect(formatNumber(0)).toBe('0')
    expect(formatNumber(999_999_999_999_999)).toBe('999,999,999,999,999')
    expect(formatNumber(-2.5e300)).toBe('−2.50e300')
    expect(formatDelta(-0.4, formatPoints)).toBe('−40.0\u202fpp')
    expect(formatShare(-0.4)).toBe('−40.0\u202f%')
    expect(formatDelta(0.5)).toBe('+0.5')
    expect(formatDelta(-3)).toBe('−3')
    expect(formatDelta(0)).toBe('±0')
    expect(formatDelta(-1240, formatDuration)).toBe('−1.24 s')
    expect(formatBytes(512)).toBe('512 B')
    expect(formatBytes(1_200_000)).toBe('1.20 MB')
  })

  it('tells times under a day by their age', () => {
    const now = Date.parse('2026-11-21T12:00:00Z')
    expect(formatTime('2026-11-21T11:59:58Z', now)).toBe('now')
    expect(formatTime('2026-11-21T11:59:30Z', now)).toBe('30 s ago')
    expect(formatTime('2026-11-21T11:15:00Z', now)).toBe('45 min ago')
    expect(formatTime('2026-11-21T02:00:00Z', now)).toBe('10 h ago')
    expect(formatTime('2026-11-10T12:00:00Z', now)).toMatch(/^Nov 10 \d\d:00$/)
    expect(formatTime('2025-11-10T12:00:00Z', now)).toMatch(/^Nov 10 2025 \d\d:00$/)
    expect(formatTime(null)).toBe('–')
  })

  it('tells the whole moment in a tooltip, here and in UTC', () => {
    expect(exactTime('2026-11-21T11:59:58.250Z')).toMatch(
      /^2026-11-2\d \d\d:59:58\.250 local\n2026-11-21 11:59:58\.250 UTC$/,
    )
  })
})
