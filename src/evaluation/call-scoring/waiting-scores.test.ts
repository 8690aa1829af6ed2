import { describe, expect, it } from 'vitest'
import { createWaitingLimits } from './waiting-scores.ts'

/** Limits where an entity, and the monitor `full`, have this many scores waiting. */
function limitsWith(ofEntities: Record<string, number>, ofMonitor: number) {
  return createWaitingLimits({
    countOpenBy: async (_, entity) => ofEntities[entity] ?? 0,
    countOpenOf: async () => new Map([['full', ofMonitor]]),
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
      const waitingOf = await limits.ofMonitors('a/b', ['m'])
      expect(waitingOf('m').count).toBe(50_000)
    }
    expect(reads).toBe(2)
  })

  it('refuse the entity that has too many, and no other', async () => {
    const limits = limitsWith({ flood: 1_000_000 }, 0)
    await expect(limits.check('flood/project')).rejects.toMatchObject({ status: 429 })
    await limits.check('other/project')
    const waitingOf = await limits.ofMonitors('flood/project', ['full', 'm'])
    expect(waitingOf('m')).toMatchObject({ count: 0, problem: expect.stringContaining('of flood') })
  })

  it('stop the monitor that has too many, and no other', async () => {
    const waitingOf = await limitsWith({}, 100_000).ofMonitors('a/b', ['full', 'm'])
    expect(waitingOf('full')).toEqual({
      count: 100_000,
      problem: 'New calls are skipped: 100000 scores of the monitor are waiting already',
    })
    expect(waitingOf('m')).toEqual({ count: 0, problem: undefined })
    const before = await limitsWith({ a: 999_999 }, 99_999).ofMonitors('a/b', ['full'])
    expect(before('full').problem).toBeUndefined()
  })
})
