import { describe, expect, it } from 'vitest'
import { createEventLoopTurns } from './event-loop-turns.ts'

/** Longer than the share of one iteration of the event loop. */
function work(): void {
  for (const until = performance.now() + 6; performance.now() < until; );
}

describe('createEventLoopTurns', () => {
  it('lets owners take turns, each in order, however much one has to do', async () => {
    const turns = createEventLoopTurns()
    const done: string[] = []
    const once = async (owner: string, name: string) => {
      await turns.turn(owner)
      work()
      done.push(name)
    }
    const flood = Array.from({ length: 6 }, (_, index) => once('flood', `flood ${index}`))
    await Promise.all([...flood, once('b', 'b1'), once('b', 'b2'), once('c', 'c1')])
    expect(done.filter((name) => name.startsWith('flood'))).toEqual(
      [0, 1, 2, 3, 4, 5].map((n) => `flood ${n}`),
    )
    expect(done.indexOf('b1')).toBeLessThan(done.indexOf('flood 4'))
    expect(done.indexOf('c1')).toBeLessThan(done.indexOf('flood 4'))
    expect(done.indexOf('b2')).toBeLessThan(done.indexOf('flood 5'))
  })

  it('reads data that arrived between two pieces of work', async () => {
    const turns = createEventLoopTurns()
    let done = 0
    const flood = Array.from({ length: 10 }, async () => {
      await turns.turn('flood')
      work()
      done++
    })
    const seen = await new Promise<number>((resolve) => setTimeout(() => resolve(done), 0))
    expect(seen).toBeLessThan(10)
    await Promise.all(flood)
  })

  it('does not delay an owner that is alone', async () => {
    const turns = createEventLoopTurns()
    let isNextIteration = false
    setImmediate(() => {
      isNextIteration = true
    })
    await turns.turn('a')
    expect(isNextIteration).toBe(false)
  })
})
