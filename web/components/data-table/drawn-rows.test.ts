import { describe, expect, it } from 'vitest'
import { type DrawnRow, drawRows, ROWS_PER_FRAME } from './drawn-rows.ts'

const slots = (first: number, count: number) =>
  Array.from({ length: count }, (_, at) => ({ key: at, index: first + at }))
const textsOf = (rows: readonly DrawnRow<string>[]) => rows.map(({ row }) => row)
const rowAt = (index: number) => `row ${index}`
const none = () => undefined

describe('drawRows', () => {
  it('shows a frame of rows at a time, from the top, until all are shown', () => {
    const wanted = slots(0, 2 * ROWS_PER_FRAME + 1).reverse()
    let drawn = drawRows<string>([], wanted, rowAt)
    const counts: number[] = []
    for (; !drawn.isComplete; drawn = drawRows(drawn.rows, wanted, rowAt)) {
      const shown = drawn.rows.filter(({ row }) => row !== undefined)
      expect(Math.max(...shown.map(({ index }) => index))).toBe(shown.length - 1)
      counts.push(shown.length)
    }
    expect(counts).toEqual([ROWS_PER_FRAME, 2 * ROWS_PER_FRAME])
    expect(textsOf(drawn.rows)).toEqual(wanted.map(({ index }) => rowAt(index)))
  })

  it('keeps the old content of a place until the new has its turn, and empties what is no longer there', () => {
    const wanted = slots(0, ROWS_PER_FRAME + 1)
    const before = wanted.map((slot) => ({ ...slot, row: 'old' }))
    const { rows, isComplete } = drawRows(before, wanted, rowAt)
    expect(rows.at(-1)?.row).toBe('old')
    expect(isComplete).toBe(false)
    const emptied = drawRows(before, wanted, none)
    expect(textsOf(emptied.rows)).toEqual(wanted.map(none))
    expect(emptied.isComplete).toBe(true)
  })

  it('shows nothing of another place in an element that went on', () => {
    const before = slots(0, ROWS_PER_FRAME + 2).map((slot) => ({ ...slot, row: rowAt(slot.index) }))
    const { rows } = drawRows(before, slots(100, ROWS_PER_FRAME + 2), rowAt)
    expect(rows.at(-1)?.row).toBeUndefined()
    expect(rows[0]?.row).toBe('row 100')
  })
})
