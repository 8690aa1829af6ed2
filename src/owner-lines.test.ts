import { describe, expect, it } from 'vitest'
import { createOwnerLines } from './owner-lines.ts'

function filled() {
  const lines = createOwnerLines<string>()
  for (const item of ['a1', 'a2', 'b1', 'c1', 'b2']) lines.add(item.slice(0, 1), item, 10)
  return lines
}

describe('createOwnerLines', () => {
  it('lets owners take turns, each in order', () => {
    const lines = filled()
    const taken = [1, 2, 3, 4, 5, 6].map(() => lines.take())
    expect(taken).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', undefined])
    expect([lines.weight(), lines.owners(), lines.first()]).toEqual([0, [], undefined])
  })

  it('takes of an owner whose turn it is not, which then comes last', () => {
    const lines = filled()
    expect([lines.take('b'), lines.take('x')]).toEqual(['b1', undefined])
    expect(lines.owners()).toEqual(['a', 'c', 'b'])
    expect(lines.first()).toBe('a1')
  })

  it('counts waiters, and forgets those that no longer wait', () => {
    const lines = filled()
    expect([lines.weight(), lines.weight('a'), lines.weight('x')]).toEqual([50, 20, 0])
    lines.remove('a', 'a1')
    lines.remove('c', 'c1')
    lines.remove('c', 'c1')
    lines.remove('a', 'b1')
    expect([lines.weight(), lines.weight('a'), lines.owners()]).toEqual([30, 10, ['a', 'b']])
  })

  it('lets entities take turns first, and within them their owners', () => {
    const lines = createOwnerLines<string>()
    for (const owner of ['a/1', 'a/2', 'a/3', 'b/1'])
      for (const item of ['x', 'y']) lines.add(owner, `${owner}${item}`)
    expect([lines.weightOfEntity('a/9'), lines.weightOfEntity('b')]).toEqual([6, 2])
    expect(lines.owners()).toEqual(['a/1', 'b/1', 'a/2', 'a/3'])
    const taken = Array.from({ length: 9 }, () => lines.take())
    expect(taken).toEqual(['a/1x', 'b/1x', 'a/2x', 'b/1y', 'a/3x', 'a/1y', 'a/2y', 'a/3y', undefined])
  })
})
