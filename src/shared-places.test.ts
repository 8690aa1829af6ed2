import { describe, expect, it } from 'vitest'
import { createSharedPlaces, type SharedPlaces } from './shared-places.ts'

/** How many places an entity gets of those that are left. */
function takeAll(places: SharedPlaces, entity: string): number {
  while (places.take(entity) !== undefined);
  return places.heldBy(entity)
}

describe('createSharedPlaces', () => {
  it('gives one entity most places, and leaves some to each that comes later', () => {
    const places = createSharedPlaces(100)
    const held = ['a', 'b', 'c'].map((entity) => takeAll(places, entity))
    expect(held).toEqual([80, 16, 4])
    expect(places.taken()).toBe(100)
  })

  it('gives two that ask in turns the same, and what one gives back to either', () => {
    const places = createSharedPlaces(90)
    const ends: (() => void)[] = []
    for (let round = 0; round < 90; round++)
      for (const entity of ['a', 'b']) {
        const end = places.take(entity)
        if (entity === 'a' && end !== undefined) ends.push(end)
      }
    expect([places.heldBy('a'), places.heldBy('b')]).toEqual([40, 40])
    for (const end of ends) end()
    expect(places.heldBy('a')).toBe(0)
    expect(takeAll(places, 'b')).toBe(72)
  })
})
