import { describe, expect, it } from 'vitest'
import { fairOrder } from './fair-order.ts'

const job = (group_key: string, id: string, entity = '') => ({ group_key, id, entity })
const NOTHING = { groups: new Map<string, string>(), entities: new Map<string, string>() }

describe('fairOrder', () => {
  it('lets groups take turns and keeps the order of one group', () => {
    const waiting = [job('a', '1'), job('a', '2'), job('a', '3'), job('b', '4'), job('c', '5'), job('b', '6')]
    expect(fairOrder(waiting, NOTHING).map(({ id }) => id)).toEqual(['1', '4', '5', '2', '6', '3'])
  })

  it('puts first the group that has waited longest since its last job', () => {
    const waiting = [job('a', '1'), job('b', '2'), job('c', '3')]
    const groups = new Map([
      ['a', '2026-01-02'],
      ['b', '2026-01-01'],
    ])
    expect(fairOrder(waiting, { ...NOTHING, groups }).map(({ id }) => id)).toEqual(['3', '2', '1'])
  })

  it('lets entities take turns before their groups', () => {
    const waiting = ['a', 'b', 'c'].map((group, index) => job(group, String(index + 1), 'many'))
    waiting.push(job('x', '4', 'one'), job('x', '5', 'one'))
    const entities = new Map([['many', '2026-01-01']])
    const ids = fairOrder(waiting, { ...NOTHING, entities }).map(({ id }) => id)
    expect(ids).toEqual(['4', '1', '5', '2', '3'])
  })
})
