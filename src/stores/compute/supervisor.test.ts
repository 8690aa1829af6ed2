import { afterEach, describe, expect, it, vi } from 'vitest'
import { createLog } from '../../log.ts'
import { createParts } from './parts.ts'
import { type Supervisor, supervise } from './supervisor.ts'

/** Short, so that a test of three failed starts is over soon. */
const BACKOFF_MS_MAX = 20

const opened: AsyncDisposable[] = []
afterEach(async () => {
  for (const one of opened.splice(0)) await one[Symbol.asyncDispose]()
})

/** A part of which no start succeeds, and a count of them. */
function failing(
  rank: 'keep' | 'stop-when-idle',
  backoffMsMax = BACKOFF_MS_MAX,
): { part: Supervisor<never>; starts: () => number } {
  let count = 0
  const part = supervise<never>({
    name: 'it',
    log: createLog({ logLevel: 'silent', logFormat: 'json' }),
    parts: createParts({ budgetBytes: 1, idleMs: 0 }),
    rank,
    memoryBytes: () => 1,
    live: async () => `it failed ${++count} times`,
    backoffMsMax,
  })
  opened.push(part)
  return { part, starts: () => count }
}

function ask(part: Supervisor<never>): Promise<unknown> {
  return part.ready(new AbortController().signal)
}

describe('a part that cannot be started', () => {
  it('is left alone once whoever asked was told, and tried once when somebody asks again', async () => {
    const { part, starts } = failing('stop-when-idle')
    await expect(ask(part)).rejects.toThrow('it failed 3 times')
    await vi.waitFor(() => expect(part.status().state).toBe('idle'))
    expect(part.status().last_error).toBe('it failed 3 times')
    expect(starts()).toBe(3)
    await expect(ask(part)).rejects.toThrow('it failed 4 times')
    expect(starts()).toBe(4)
  })

  it('tells the reason at once while it pauses', async () => {
    const { part, starts } = failing('stop-when-idle', 100)
    await expect(ask(part)).rejects.toThrow('it failed 3 times')
    expect(part.status().state).toBe('failed')
    await expect(ask(part)).rejects.toThrow('it failed 3 times')
    expect(starts()).toBe(3)
  })

  it('goes on for somebody who uses it', async () => {
    const { part, starts } = failing('stop-when-idle')
    const release = part.use()
    await expect(ask(part)).rejects.toThrow('it failed 3 times')
    await vi.waitFor(() => expect(starts()).toBeGreaterThan(4))
    release()
    await vi.waitFor(() => expect(part.status().state).toBe('idle'))
  })

  it('goes on when it is to be kept', async () => {
    const { part, starts } = failing('keep')
    await expect(ask(part)).rejects.toThrow('it failed 3 times')
    await vi.waitFor(() => expect(starts()).toBeGreaterThan(4))
    expect(part.status().state).toBe('failed')
  })
})
