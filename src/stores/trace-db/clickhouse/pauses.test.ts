import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createPauses } from './pauses.ts'

describe('createPauses', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
  afterEach(() => void vi.useRealTimers())

  it('pauses an owner until the last of its pauses is over, and says so', () => {
    const pauses = createPauses()
    const ended: string[] = []
    pauses.onEnd(() => ended.push('one'))
    pauses.onEnd(() => ended.push('other'))
    pauses.add('flood', 100)
    pauses.add('flood', 50)
    vi.advanceTimersByTime(99)
    expect([pauses.isPaused('flood'), pauses.isPaused('quiet'), ended]).toEqual([true, false, []])
    vi.advanceTimersByTime(1)
    expect([pauses.isPaused('flood'), ended]).toEqual([false, ['one', 'other']])
  })

  it('pauses for 750 ms at most', () => {
    const pauses = createPauses()
    for (let n = 0; n < 3; n++) pauses.add('flood', 10_000)
    vi.advanceTimersByTime(750)
    expect(pauses.isPaused('flood')).toBe(false)
  })
})
