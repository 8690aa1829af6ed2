import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createHeldBodies } from './held-bodies.ts'

const MEGABYTE = 1024 * 1024

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe('createHeldBodies', () => {
  it('503 for a body that exceeds the room for all, until an earlier request has been answered', () => {
    const bodies = createHeldBodies()
    const [first, second] = [bodies.open('a'), bodies.open('b')]
    first.hold(300 * MEGABYTE)
    second.hold(200 * MEGABYTE)
    expect(() => second.hold(100 * MEGABYTE)).toThrow('Too many large requests are')
    first.release()
    first.release()
    second.hold(150 * MEGABYTE)
    second.release()
    first.hold(380 * MEGABYTE)
  })

  it('503 for a body that exceeds the share of a key, while others have room', () => {
    const bodies = createHeldBodies()
    bodies.open('a').hold(380 * MEGABYTE)
    expect(() => bodies.open('a').hold(10 * MEGABYTE)).toThrow('of this key')
    bodies.open('b').hold(100 * MEGABYTE)
  })

  it('503 for the bodies that arrive slowly, the oldest first, when the room is short', () => {
    const bodies = createHeldBodies()
    const refused: string[] = []
    const arriving = (name: string, keyId: string, megabytes: number) => {
      const body = bodies.open(keyId)
      body.begin((error) => refused.push(`${name}: ${error.message}`))
      body.hold(megabytes * MEGABYTE)
      return body
    }
    arriving('oldest', 'a', 200).end()
    arriving('slow', 'a', 100)
    arriving('slow too', 'a', 50)
    arriving('of another', 'b', 100)
    vi.advanceTimersByTime(10_000)
    arriving('new', 'c', 70)
    expect(refused).toEqual([expect.stringMatching(/^slow: The body arrived slowly/)])
    arriving('new too', 'a', 80)
    expect(refused).toHaveLength(1)
    arriving('third', 'a', 60)
    expect(refused).toEqual([expect.anything(), expect.stringMatching(/^slow too: /)])
  })
})
