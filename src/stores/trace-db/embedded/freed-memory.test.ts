import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Requests } from '../clickhouse/server.ts'
import { returnFreedMemory } from './freed-memory.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Only the statement is read. */
function open(run: (sql: string) => Promise<void>) {
  const log = { warn: vi.fn() }
  return { log, ...returnFreedMemory({ requests: { run } as Requests, log }) }
}

it('freed memory is returned again and again, one statement at a time, until the database is closed', async () => {
  const running: (() => void)[] = []
  const { stop } = open(() => new Promise((resolve) => running.push(() => resolve())))
  await vi.advanceTimersByTimeAsync(30_000)
  expect(running.length).toBe(1)
  running[0]?.()
  await vi.advanceTimersByTimeAsync(10_000)
  expect(running.length).toBe(2)
  const stopped = vi.fn()
  void stop().then(stopped)
  await vi.advanceTimersByTimeAsync(30_000)
  expect(stopped).not.toHaveBeenCalled()
  running[1]?.()
  await vi.advanceTimersByTimeAsync(30_000)
  expect(stopped).toHaveBeenCalled()
  expect(running.length).toBe(2)
})

it('a refusal is logged, and the next attempt is made', async () => {
  const refused = vi.fn(async () => Promise.reject(new Error('Code: 36')))
  const { log, stop } = open(refused)
  await vi.advanceTimersByTimeAsync(20_000)
  expect(refused).toHaveBeenCalledTimes(2)
  expect(log.warn.mock.calls[0]?.[0]).toEqual({ reason: 'Code: 36' })
  await stop()
})
