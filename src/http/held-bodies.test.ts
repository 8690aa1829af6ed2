import { describe, expect, it } from 'vitest'
import { createHeldBodies } from './held-bodies.ts'

const MEGABYTE = 1024 * 1024

describe('createHeldBodies', () => {
  it('503 for what exceeds the room for all, until an earlier request has been answered', () => {
    const bodies = createHeldBodies()
    const [first, second] = [bodies.open(), bodies.open()]
    first.hold(300 * MEGABYTE)
    second.hold(200 * MEGABYTE)
    expect(() => second.hold(100 * MEGABYTE)).toThrow('Too many large requests')
    first.release()
    first.release()
    second.hold(300 * MEGABYTE)
    expect(() => first.hold(50 * MEGABYTE)).toThrow('Too many large requests')
  })
})
