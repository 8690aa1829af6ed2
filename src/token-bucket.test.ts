import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createTokenBucket } from './token-bucket.ts'

describe('createTokenBucket', () => {
  beforeEach(() => vi.useFakeTimers({ toFake: ['performance'] }))
  afterEach(() => vi.useRealTimers())

  it('empties within a minute, and holds a changed number at once', () => {
    let perMinute = 60
    const bucket = createTokenBucket(() => perMinute)
    bucket.use(70)
    expect([bucket.left(), bucket.msUntil(1), bucket.isUnused()]).toEqual([-10, 11_000, false])
    vi.advanceTimersByTime(20_000)
    expect(bucket.left()).toBe(10)
    perMinute = 100
    expect(bucket.left()).toBe(50)
    vi.advanceTimersByTime(60_000)
    expect([bucket.left(), bucket.isUnused()]).toEqual([100, true])
  })

  it('counts nothing where there is no limit', () => {
    const bucket = createTokenBucket(() => Number.POSITIVE_INFINITY)
    bucket.use(1e9)
    expect([bucket.left(), bucket.isUnused()]).toEqual([Number.POSITIVE_INFINITY, true])
  })
})
