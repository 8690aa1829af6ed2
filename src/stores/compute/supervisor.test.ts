import { afterEach, describe, expect, it } from 'vitest'
import { createLog } from '../../log.ts'
import { eventually } from '../../test-eventually.ts'
import { createMemoryBudget } from './memory-budget.ts'
import type { Wait } from './port.ts'
import { type InstanceHooks, type Supervisor, supervise } from './supervisor.ts'

/** Short, so that a test of three failed starts is over soon. */
const BACKOFF_MS_MAX = 20

const opened: AsyncDisposable[] = []
afterEach(async () => {
  for (const one of opened.splice(0)) await one[Symbol.asyncDispose]()
})

/** An engine process of which no start succeeds, and a count of them. */
function failing(
  rank: 'keep' | 'stop-when-idle',
  backoffMsMax = BACKOFF_MS_MAX,
): { process: Supervisor<never>; starts: () => number } {
  let count = 0
  const process = supervise<never>({
    name: 'it',
    log: createLog({ logLevel: 'silent', logFormat: 'json' }),
    budget: createMemoryBudget({ budgetBytes: 1, idleMs: 0 }),
    rank,
    memoryBytes: () => 1,
    runInstance: async () => `it failed ${++count} times`,
    backoffMsMax,
  })
  opened.push(process)
  return { process, starts: () => count }
}

function ask(process: Supervisor<unknown>, wait?: Wait): Promise<unknown> {
  return process.ready(new AbortController().signal, wait)
}

/** An engine process whose starts a function makes, counted from 1. */
function started(start: (count: number, hooks: InstanceHooks<string>) => Promise<string>) {
  let count = 0
  const process = supervise<string>({
    name: 'it',
    log: createLog({ logLevel: 'silent', logFormat: 'json' }),
    budget: createMemoryBudget({ budgetBytes: 1, idleMs: 0 }),
    rank: 'stop-when-idle',
    memoryBytes: () => 1,
    runInstance: (hooks) => start(++count, hooks),
    backoffMsMax: BACKOFF_MS_MAX,
  })
  opened.push(process)
  return process
}

describe('an engine process that cannot be started', () => {
  it('stays stopped after the error was returned, and is tried once for the next request', async () => {
    const { process, starts } = failing('stop-when-idle')
    await expect(ask(process)).rejects.toThrow('it failed 3 times')
    await eventually(() => expect(process.status().state).toBe('idle'))
    expect(process.status().last_error).toBe('it failed 3 times')
    expect(starts()).toBe(3)
    await expect(ask(process)).rejects.toThrow('it failed 4 times')
    expect(starts()).toBe(4)
  })

  it('returns the reason at once while it pauses', async () => {
    const { process, starts } = failing('stop-when-idle', 100)
    await expect(ask(process)).rejects.toThrow('it failed 3 times')
    expect(process.status().state).toBe('failed')
    await expect(ask(process)).rejects.toThrow('it failed 3 times')
    expect(starts()).toBe(3)
  })

  it('is retried while it is in use', async () => {
    const { process, starts } = failing('stop-when-idle')
    const release = process.use()
    await expect(ask(process)).rejects.toThrow('it failed 3 times')
    await eventually(() => expect(starts()).toBeGreaterThan(4))
    release()
    await eventually(() => expect(process.status().state).toBe('idle'))
  })

  it('is retried when it is to be kept', async () => {
    const { process, starts } = failing('keep')
    await expect(ask(process)).rejects.toThrow('it failed 3 times')
    await eventually(() => expect(starts()).toBeGreaterThan(4))
    expect(process.status().state).toBe('failed')
  })
})

describe('a request that waits through failing starts', () => {
  it('waits until a start succeeds, however many failed', async () => {
    const process = started(async (count, { onReady, stopping }) => {
      if (count < 6) return `it failed ${count} times`
      const instance = { isAlive: () => true, ended: new AbortController().signal }
      onReady({ ...instance, ready: `at the ${count}th`, replace: () => {}, suspect: () => {} })
      await new Promise((resolve) => stopping.addEventListener('abort', resolve))
      return 'stopped'
    })
    expect(await ask(process, { failingMs: 60_000 })).toMatchObject({ ready: 'at the 6th' })
  })

  it('ends with the last reason once they have failed for too long', async () => {
    const { process, starts } = failing('stop-when-idle')
    await expect(ask(process, { failingMs: 5 * BACKOFF_MS_MAX })).rejects.toThrow('it failed')
    expect(starts()).toBeGreaterThan(3)
  })

  it('ends at once where no start would succeed', async () => {
    const process = started(async (count, { onUnstartable }) => {
      onUnstartable()
      return `it failed for good ${count} times`
    })
    await expect(ask(process, { failingMs: 60_000 })).rejects.toThrow('for good 1 times')
  })
})
