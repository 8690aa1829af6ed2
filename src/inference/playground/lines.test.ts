import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { READER_MS_MAX } from '../gateway/event-stream.ts'
import { streamOf } from './lines.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

/** Lines without an end, and what ended them. */
function endless() {
  const ended: string[] = []
  async function* lines() {
    try {
      for (let line = 0; ; line++) yield `${line}\n`
    } finally {
      ended.push('lines')
    }
  }
  return { ended, stream: streamOf(lines(), () => ended.push('source')) }
}

describe('a stream of lines', () => {
  it('ends with its source when nothing is read for too long', async () => {
    const { ended, stream } = endless()
    const reader = stream.getReader()
    await reader.read()
    await vi.advanceTimersByTimeAsync(READER_MS_MAX)
    expect(ended).toEqual(['source', 'lines'])
    await expect(reader.closed).rejects.toThrow('was not read for 60 s')
  })

  it('goes on as long as it is read', async () => {
    const { ended, stream } = endless()
    const reader = stream.getReader()
    for (let line = 0; line < 3; line++) {
      await vi.advanceTimersByTimeAsync(READER_MS_MAX - 1)
      expect((await reader.read()).done).toBe(false)
    }
    await reader.cancel()
    await vi.advanceTimersByTimeAsync(READER_MS_MAX)
    expect(ended).toEqual(['source', 'lines'])
  })
})
