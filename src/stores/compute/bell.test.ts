import { describe, expect, it, vi } from 'vitest'
import { createBell } from './bell.ts'

describe('a bell', () => {
  it('wakes all who wait, once', async () => {
    const bell = createBell()
    const { signal } = new AbortController()
    const both = Promise.all([bell.next(signal), bell.next(signal)])
    bell.ring()
    await both
    const again = bell.next(signal)
    bell.ring()
    await again
  })

  it('keeps nothing of a waiter that has gone', async () => {
    const bell = createBell()
    const client = new AbortController()
    const waiting = bell.next(client.signal)
    client.abort()
    await waiting
    const woken = vi.spyOn(client.signal, 'removeEventListener')
    bell.ring()
    expect(woken).not.toHaveBeenCalled()
  })

  it('does not wait with a signal that has ended already', async () => {
    await createBell().next(AbortSignal.abort())
  })
})
