import { describe, expect, it } from 'vitest'
import { createOwnerTurns } from './owner-turns.ts'

/** Work that is done when the test says so, and the names of what was begun, in that order. */
function useWork(options: { places: number; waitingMax: number }) {
  const turns = createOwnerTurns(options)
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

describe('createOwnerTurns', () => {
  it('gives an owner one place at a time, and entities take turns', async () => {
    const { add, begun, end } = useWork({ places: 2, waitingMax: 10 })
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
    const turns = createOwnerTurns({ places: 1, waitingMax: 1 })
    const failed = turns('a/b', () => Promise.reject(new Error('no')))
    const next = turns('a/c', async () => 'done')
    await expect(turns('a/d', async () => 'refused')).rejects.toThrow('waiting already')
    const others = turns('other', async () => 'also done')
    await expect(failed).rejects.toThrow('no')
    expect(await Promise.all([next, others])).toEqual(['done', 'also done'])
  })
})
