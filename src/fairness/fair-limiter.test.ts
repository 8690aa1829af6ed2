import { describe, expect, it } from 'vitest'
import { createFairLimiter } from './fair-limiter.ts'

const ONE_EACH = {
  ownerSlots: 1,
  refusal: (entity: string) => new Error(`1 jobs of ${entity} are waiting already`),
}

/** Work that is done when the test says so, and the names of what was begun, in that order. */
function useWork(options: { slots: number; waitingMax: number }) {
  const turns = createFairLimiter({ ...options, ...ONE_EACH })
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  return {
    begun,
    add: (owner: string, name: string) =>
      turns(owner, () => {
        begun.push(name)
        return new Promise<void>((resolve) => ends.set(name, resolve))
      }),
    async end(name: string): Promise<void> {
      ends.get(name)?.()
      await new Promise(setImmediate)
    },
  }
}

describe('createFairLimiter', () => {
  it('gives an owner one slot at a time, and entities take turns', async () => {
    const { add, begun, end } = useWork({ slots: 2, waitingMax: 10 })
    const all = ['a1', 'a2', 'a3', 'a4'].map((name) => add('flood/one', name))
    all.push(add('flood/two', 'b1'), add('other/project', 'c1'), add('other/project', 'c2'))
    await new Promise(setImmediate)
    expect(begun).toEqual(['a1', 'b1'])
    for (const name of ['a1', 'b1', 'a2']) await end(name)
    expect(begun).toEqual(['a1', 'b1', 'a2', 'c1', 'a3'])
    for (const name of ['c1', 'a3', 'c2', 'a4']) await end(name)
    await Promise.all(all)
    expect(begun).toHaveLength(7)
  })

  it('goes on after work that fails, and refuses what is too much of one entity', async () => {
    const turns = createFairLimiter({ slots: 1, waitingMax: 1, ...ONE_EACH })
    const failed = turns('a/b', () => Promise.reject(new Error('no')))
    const next = turns('a/c', async () => 'done')
    await expect(turns('a/d', async () => 'refused')).rejects.toThrow('1 jobs of a are waiting already')
    const others = turns('other', async () => 'also done')
    await expect(failed).rejects.toThrow('no')
    expect(await Promise.all([next, others])).toEqual(['done', 'also done'])
  })

  it('refuses nothing for which a slot is free, and forgets what no longer waits', async () => {
    const turns = createFairLimiter({ slots: 2, waitingMax: 1, ...ONE_EACH })
    const { promise, resolve } = Promise.withResolvers<void>()
    const first = turns('a/one', () => promise)
    const left = new AbortController()
    const waiting = turns('a/one', async () => 'too late', left.signal)
    expect(await turns('a/two', async () => 'at once')).toBe('at once')
    await expect(turns('a/one', async () => 'refused')).rejects.toThrow('waiting already')
    left.abort(new Error('gone'))
    await expect(waiting).rejects.toThrow('gone')
    const next = turns('a/one', async () => 'next')
    resolve()
    await first
    expect(await next).toBe('next')
  })

  it('gives an owner as many slots at a time as it may have', async () => {
    const turns = createFairLimiter({ ...ONE_EACH, slots: 3, ownerSlots: 2, waitingMax: 10 })
    const { promise, resolve } = Promise.withResolvers<void>()
    const begun: string[] = []
    const work = ['a1', 'a2', 'a3', 'b1'].map((name) =>
      turns(`team/${name[0]}`, async () => {
        begun.push(name)
        await promise
      }),
    )
    await new Promise(setImmediate)
    expect(begun).toEqual(['a1', 'a2', 'b1'])
    resolve()
    await Promise.all(work)
    expect(begun).toEqual(['a1', 'a2', 'b1', 'a3'])
  })
})
