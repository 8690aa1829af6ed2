import { describe, expect, it, vi } from 'vitest'
import { createNotifier } from './notifier.ts'

describe('a notifier', () => {
  it('wakes all waiters, once', async () => {
    const notifier = createNotifier()
    const { signal } = new AbortController()
    const both = Promise.all([notifier.next(signal), notifier.next(signal)])
    notifier.notify()
    await both
    const again = notifier.next(signal)
    notifier.notify()
    await again
  })

  it('keeps nothing of a waiter that has left', async () => {
    const notifier = createNotifier()
    const client = new AbortController()
    const waiting = notifier.next(client.signal)
    client.abort()
    await waiting
    const woken = vi.spyOn(client.signal, 'removeEventListener')
    notifier.notify()
    expect(woken).not.toHaveBeenCalled()
  })

  it('does not wait with a signal that has ended already', async () => {
    await createNotifier().next(AbortSignal.abort())
  })
})
