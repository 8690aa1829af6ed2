import { describe, expect, it } from 'vitest'
import { createWaitingLimits } from './waiting-scores.ts'

const M = { ref: 'weave:///a/b/object/m:v0' }
const FULL = { ref: 'weave:///a/b/object/full:v1' }

/** Limits where an entity, and the monitor `full`, have this many scores waiting. */
function limitsWith(ofEntities: Record<string, number>, ofMonitor: number) {
  return createWaitingLimits({
    countOpenBy: async (_, entity) => ofEntities[entity] ?? 0,
    countOpenOf: async () => new Map([['///a/b/object/full', ofMonitor]]),
  })
}

describe('limits of waiting scores', () => {
  it('of monitors count what is much once in a while', async () => {
    let reads = 0
    const count = (): number => ++reads * 50_000
    const limits = createWaitingLimits({
      countOpenBy: async () => count(),
      countOpenOf: async (refs) => new Map(refs.map((ref) => [ref, count()])),
    })
    for (const _ of [1, 2, 3]) {
      const waitingOf = await limits.ofMonitors('a/b', [M])
      expect(waitingOf(M).count).toBe(50_000)
    }
    expect(reads).toBe(2)
  })

  it('refuse the entity that has too many, and no other', async () => {
    const limits = limitsWith({ flood: 1_000_000 }, 0)
    await expect(limits.check('flood/project')).rejects.toMatchObject({ status: 429 })
    await limits.check('other/project')
    const waitingOf = await limits.ofMonitors('flood/project', [FULL, M])
    expect(waitingOf(M)).toMatchObject({ count: 0, problem: expect.stringContaining('of flood') })
  })

  it('stop the monitor that has too many, and no other', async () => {
    const waitingOf = await limitsWith({}, 100_000).ofMonitors('a/b', [FULL, M])
    expect(waitingOf(FULL)).toEqual({
      count: 100_000,
      problem: 'New calls are skipped: 100000 scores of the monitor are waiting already',
    })
    expect(waitingOf(M)).toEqual({ count: 0, problem: undefined })
    const before = await limitsWith({ a: 999_999 }, 99_999).ofMonitors('a/b', [FULL])
    expect(before(FULL).problem).toBeUndefined()
  })
})
