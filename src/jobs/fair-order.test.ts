import { describe, expect, it } from 'vitest'
import { fairOrder } from './fair-order.ts'

const job = (group_key: string, id: string) => ({ group_key, id })

describe('fairOrder', () => {
  it('lets groups take turns and keeps the order of one group', () => {
    const waiting = [job('a', '1'), job('a', '2'), job('a', '3'), job('b', '4'), job('c', '5'), job('b', '6')]
    expect(fairOrder(waiting, new Map()).map(({ id }) => id)).toEqual(['1', '4', '5', '2', '6', '3'])
  })

  it('puts first the group that has waited longest since its last job', () => {
    const waiting = [job('a', '1'), job('b', '2'), job('c', '3')]
    const lastStarted = new Map([
      ['a', '2026-01-02'],
      ['b', '2026-01-01'],
    ])
    expect(fairOrder(waiting, lastStarted).map(({ id }) => id)).toEqual(['3', '2', '1'])
  })
})
