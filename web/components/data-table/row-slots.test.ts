import { describe, expect, it } from 'vitest'
import { inRowOrder, type RowSlot, reuseSlots } from './row-slots.ts'

const range = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, offset) => first + offset)
const rowsOf = (slots: readonly RowSlot[]) => slots.map(({ index }) => index)
const keysOf = (slots: readonly RowSlot[]) => slots.map(({ key }) => key)

describe('reuseSlots', () => {
  it('gives the elements that left the view to the rows that came', () => {
    const before = reuseSlots([], range(0, 9))
    const after = reuseSlots(before, range(3, 12))
    expect(keysOf(after)).toEqual(keysOf(before))
    expect(rowsOf(after)).toEqual([10, 11, 12, 3, 4, 5, 6, 7, 8, 9])
  })

  it('leaves a row that is still wanted in its element, wherever the others go', () => {
    const before = reuseSlots([], range(0, 9))
    const focused = before[4]
    const far = reuseSlots(before, [4, ...range(5000, 5009)])
    expect(far).toContain(focused)
    expect(reuseSlots(far, range(0, 9))).toContain(focused)
  })

  it('makes elements only for more rows than before, and removes those without one', () => {
    const few = reuseSlots([], range(0, 3))
    const many = reuseSlots(few, range(0, 7))
    expect(new Set(keysOf(many)).size).toBe(8)
    expect(rowsOf(reuseSlots(many, range(6, 8)))).toEqual(expect.arrayContaining([6, 7, 8]))
    expect(reuseSlots(many, range(6, 8))).toHaveLength(3)
  })

  it('shows each wanted row once, however the view jumps', () => {
    let slots: RowSlot[] = []
    for (let step = 0; step < 500; step++) {
      const first = (step * 7919) % 1000
      const wanted = range(first, first + ((step * 31) % 40))
      slots = reuseSlots(step % 3 === 0 ? inRowOrder(slots) : slots, wanted)
      expect(rowsOf(inRowOrder(slots))).toEqual(wanted)
      expect(new Set(keysOf(slots)).size).toBe(slots.length)
    }
  })
})
