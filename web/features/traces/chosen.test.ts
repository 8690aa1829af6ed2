import { describe, expect, it } from 'vitest'
import { ALL_CHOSEN, choose, chosenCount, chosenShare, isChosen, NONE_CHOSEN } from './chosen.ts'

describe('choose', () => {
  it('ticks and unticks one by one', () => {
    const two = choose(NONE_CHOSEN, ['a', 'b'], 'in')
    expect([isChosen(two, 'a'), isChosen(two, 'c'), chosenCount(two, 9)]).toEqual([true, false, 2])
    const one = choose(two, ['a'], 'out')
    expect([isChosen(one, 'a'), chosenCount(one, 9), chosenShare(one, 9)]).toEqual([false, 1, 'some'])
    expect(chosenShare(choose(one, ['b'], 'out'), 9)).toBe('none')
  })

  it('takes calls out of all that match, and back in', () => {
    const most = choose(ALL_CHOSEN, ['a', 'b'], 'out')
    expect([isChosen(most, 'a'), isChosen(most, 'c'), chosenCount(most, 9)]).toEqual([false, true, 7])
    expect(chosenShare(choose(most, ['a', 'b'], 'in'), 9)).toBe('all')
    expect(chosenShare(choose(ALL_CHOSEN, ['a'], 'out'), 1)).toBe('none')
  })
})
