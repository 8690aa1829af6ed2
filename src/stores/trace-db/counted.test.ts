import { expect, it, vi } from 'vitest'
import { countWrites } from './counted.ts'
import type { TraceDb } from './port.ts'

it('an insert without rows neither reaches the database nor counts as its answer', async () => {
  const insert = vi.fn<TraceDb['insert']>(async () => {})
  const counted = countWrites({
    insert,
    query: async function* () {},
    rowBinary: async function* () {},
    text: async function* () {},
    native: async function* () {},
    insertNative: async () => {},
    insertOnce: async () => {},
    command: async () => {},
    repairs: () => ({ done: 0, failed: 0, detached: [] }),
    [Symbol.asyncDispose]: async () => {},
  })
  await counted.insert('calls', [])
  expect(insert).not.toHaveBeenCalled()
  expect(counted.lastAnswerAt()).toBe(Number.NEGATIVE_INFINITY)
  expect(counted.writes().size).toBe(0)
  await counted.insert('calls', [{ id: '1' }])
  expect(insert).toHaveBeenCalledOnce()
  expect(counted.lastAnswerAt()).toBeGreaterThan(0)
})
