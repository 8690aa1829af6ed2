import { describe, expect, it } from 'vitest'
import { aroundCall, barOf, ticks, within, zoom } from './time-axis.ts'

const WHOLE = { from: 1000, to: 2000 }

describe('the time axis', () => {
  it('zooms about a moment and stays within the trace', () => {
    expect(zoom(WHOLE, WHOLE, 1500, 0.5)).toEqual({ from: 1250, to: 1750 })
    expect(zoom({ from: 1250, to: 1750 }, WHOLE, 1250, 2)).toEqual({ from: 1000, to: 2000 })
    expect(zoom(WHOLE, WHOLE, 1000, 4)).toEqual(WHOLE)
    expect(within({ from: 900, to: 1100 }, WHOLE)).toEqual({ from: 1000, to: 1200 })
    expect(aroundCall(1990, 2000, WHOLE).to).toBe(2000)
  })

  it('never draws a bar out of its box', () => {
    for (let from = 0; from < 3000; from += 130)
      for (let to = from; to < 3000; to += 170) {
        const bar = barOf(from, to, { from: 1200, to: 1300 })
        if (bar === undefined) continue
        expect(bar.left).toBeGreaterThanOrEqual(0)
        expect(bar.left + bar.width).toBeLessThanOrEqual(100.0001)
      }
    expect(barOf(0, 10, WHOLE)).toBeUndefined()
    expect(barOf(1500, 1500, WHOLE)).toEqual({ left: 50, width: 0 })
    expect(barOf(5, 5, { from: 5, to: 5 })).toEqual({ left: 0, width: 0 })
  })

  it('has round ticks', () => {
    expect(ticks(WHOLE, 1000, 5)).toEqual([0, 200, 400, 600, 800, 1000])
    expect(ticks({ from: 1101, to: 1110 }, 1000, 4)).toEqual([105, 110])
    expect(ticks({ from: 0, to: 281_000 }, 0, 4)).toEqual([0, 120_000, 240_000])
    expect(ticks({ from: 5, to: 5 }, 5, 4)).toEqual([])
  })
})
