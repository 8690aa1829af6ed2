import { EventEmitter } from 'node:events'
import { describe, expect, it, vi } from 'vitest'
import { watchUnexpectedErrors } from './unexpected-errors.ts'

function watched() {
  const source = new EventEmitter()
  const fatal = vi.fn()
  const errors = watchUnexpectedErrors({ fatal }, source)
  return {
    fatal,
    errors,
    throwOne: () => source.emit('uncaughtException', new Error('stray'), 'uncaughtException'),
  }
}

describe('watchUnexpectedErrors', () => {
  it('logs each with its stack, counts it, and degrades for a while', () => {
    const { errors, fatal, throwOne } = watched()
    expect(errors.isRecent()).toBe(false)
    throwOne()
    expect(errors.count()).toBe(1)
    expect(errors.isRecent()).toBe(true)
    expect(fatal.mock.calls[0]?.[0]).toMatchObject({ err: expect.any(Error), origin: 'uncaughtException' })
    const later = performance.now() + 11 * 60_000
    vi.useFakeTimers({ toFake: ['performance'] })
    vi.advanceTimersByTime(later)
    expect(errors.isRecent()).toBe(false)
    vi.useRealTimers()
  })

  it('gives up in a storm of them', async () => {
    const { errors, throwOne } = watched()
    for (let index = 0; index < 20; index++) throwOne()
    expect(await errors.storm).toBe('storm')
  })

  it('stops listening at its disposal', () => {
    const source = new EventEmitter()
    watchUnexpectedErrors({ fatal: vi.fn() }, source)[Symbol.dispose]()
    expect(source.listenerCount('uncaughtException')).toBe(0)
  })
})
