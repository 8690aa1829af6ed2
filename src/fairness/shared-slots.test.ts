import { describe, expect, it } from 'vitest'
import { createSharedSlots, type SharedSlots } from './shared-slots.ts'

/** How many slots an entity gets of those that are left. */
function takeAll(slots: SharedSlots, entity: string): number {
  while (slots.take(entity) !== undefined);
  return slots.heldBy(entity)
}

describe('createSharedSlots', () => {
  it('gives one entity most slots, and leaves some to each that comes later', () => {
    const slots = createSharedSlots(100)
    const held = ['a', 'b', 'c'].map((entity) => takeAll(slots, entity))
    expect(held).toEqual([80, 16, 4])
    expect(slots.taken()).toBe(100)
  })

  it('gives two that ask in turns the same, and what one gives back to either', () => {
    const slots = createSharedSlots(90)
    const ends: (() => void)[] = []
    for (let round = 0; round < 90; round++)
      for (const entity of ['a', 'b']) {
        const end = slots.take(entity)
        if (entity === 'a' && end !== undefined) ends.push(end)
      }
    expect([slots.heldBy('a'), slots.heldBy('b')]).toEqual([40, 40])
    for (const end of ends) end()
    expect(slots.heldBy('a')).toBe(0)
    expect(takeAll(slots, 'b')).toBe(72)
  })
})
