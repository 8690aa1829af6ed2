import { expect, it } from 'vitest'
import { inOrder, inOrderByKey } from './in-order.ts'

/** Work that records when it begins and ends; `end` or `fail` ends it. */
function createWork() {
  const seen: string[] = []
  const ends = new Map<string, PromiseWithResolvers<void>>()
  return {
    seen,
    of: (name: string) => async (): Promise<string> => {
      seen.push(`${name} begins`)
      const end = Promise.withResolvers<void>()
      ends.set(name, end)
      await end.promise
      seen.push(`${name} ends`)
      return name
    },
    end: (name: string): void => ends.get(name)?.resolve(),
    fail: (name: string): void => ends.get(name)?.reject(new Error(`${name} failed`)),
  }
}

/** Resolves when all that can go on has done so. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

it('does one piece of work after the other, also after one that failed', async () => {
  const work = createWork()
  const order = inOrder()
  const first = order(work.of('first'))
  const second = order(work.of('second'))
  await settled()
  expect(work.seen).toEqual(['first begins'])
  work.fail('first')
  await expect(first).rejects.toThrow('first failed')
  await settled()
  expect(work.seen).toEqual(['first begins', 'second begins'])
  work.end('second')
  expect(await second).toBe('second')
  expect(await order(async () => 'third')).toBe('third')
})

it('lets work on one key wait, and not that on another', async () => {
  const work = createWork()
  const order = inOrderByKey()
  const waited = [order('a', work.of('a1')), order('a', work.of('a2')), order('b', work.of('b1'))]
  await settled()
  expect(work.seen).toEqual(['a1 begins', 'b1 begins'])
  work.end('b1')
  work.end('a1')
  await settled()
  expect(work.seen.slice(2).sort()).toEqual(['a1 ends', 'a2 begins', 'b1 ends'])
  work.end('a2')
  expect(await Promise.all(waited)).toEqual(['a1', 'a2', 'b1'])
})
