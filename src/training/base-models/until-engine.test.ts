import { describe, expect, it } from 'vitest'
import { untilEngine } from './service.ts'

const never = new Promise<never>(() => {})

describe('untilEngine', () => {
  it('ends at once where its signal has ended already', async () => {
    await expect(untilEngine(never, AbortSignal.abort(), 'base')).rejects.toMatchObject({ status: 503 })
  })

  it('ends when its signal does, and is no longer heard of then', async () => {
    const stopping = new AbortController()
    const waiting = untilEngine(never, stopping.signal, 'base')
    stopping.abort()
    await expect(waiting).rejects.toMatchObject({ status: 503 })
    expect(await untilEngine(Promise.resolve(1), new AbortController().signal, 'base')).toBe(1)
  })
})
