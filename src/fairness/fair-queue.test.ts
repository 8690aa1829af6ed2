import { describe, expect, it } from 'vitest'
import { createFairQueue } from './fair-queue.ts'

function filled() {
  const queue = createFairQueue<string>()
  for (const item of ['a1', 'a2', 'b1', 'c1', 'b2']) queue.add(item.slice(0, 1), item, 10)
  return queue
}

describe('createFairQueue', () => {
  it('lets owners take turns, each in order', () => {
    const queue = filled()
    const taken = [1, 2, 3, 4, 5, 6].map(() => queue.take())
    expect(taken).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', undefined])
    expect([queue.weight(), queue.owners(), queue.first()]).toEqual([0, [], undefined])
  })

  it('takes of an owner whose turn it is not, which then comes last', () => {
    const queue = filled()
    expect([queue.take('b'), queue.take('x')]).toEqual(['b1', undefined])
    expect(queue.owners()).toEqual(['a', 'c', 'b'])
    expect(queue.first()).toBe('a1')
  })

  it('counts waiters, and forgets those that no longer wait', () => {
    const queue = filled()
    expect([queue.weight(), queue.weight('a'), queue.weight('x')]).toEqual([50, 20, 0])
    queue.remove('a', 'a1')
    queue.remove('c', 'c1')
    queue.remove('c', 'c1')
    queue.remove('a', 'b1')
    expect([queue.weight(), queue.weight('a'), queue.owners()]).toEqual([30, 10, ['a', 'b']])
  })

  it('lets entities take turns first, and within them their owners', () => {
    const queue = createFairQueue<string>()
    for (const owner of ['a/1', 'a/2', 'a/3', 'b/1'])
      for (const item of ['x', 'y']) queue.add(owner, `${owner}${item}`)
    expect([queue.weightOfEntity('a/9'), queue.weightOfEntity('b')]).toEqual([6, 2])
    expect(queue.owners()).toEqual(['a/1', 'b/1', 'a/2', 'a/3'])
    const taken = Array.from({ length: 9 }, () => queue.take())
    expect(taken).toEqual(['a/1x', 'b/1x', 'a/2x', 'b/1y', 'a/3x', 'a/1y', 'a/2y', 'a/3y', undefined])
  })
})
