import { describe, expect, it } from 'vitest'
import { EngineProcessLost } from '../../stores/compute/port.ts'
import { createTrainerStarts, PassedOn } from './trainer-starts.ts'

const unsent = new EngineProcessLost('no GPU', { request: 'unsent' })

/** Whether an attempt whose trainer cannot be started waits, and what it ends with. */
async function failedAttempt(
  starts: ReturnType<typeof createTrainerStarts>,
  { baseModel = 'base', isBegun = false } = {},
) {
  let waitedMs = -1
  const error: unknown = await starts
    .attempt({ baseModel, isBegun }, async (failingMs) => {
      waitedMs = failingMs
      throw unsent
    })
    .catch((thrown: unknown) => thrown)
  return { waitedMs, error }
}

describe('a trainer that cannot be started', () => {
  it('is waited for where no other server may have one', async () => {
    const starts = createTrainerStarts({ arePossible: false })
    expect(await failedAttempt(starts)).toEqual({ waitedMs: 60_000, error: unsent })
    expect(starts.isPaused()).toBe(false)
  })

  it('is waited for longer by a job that was begun before, and once another job has run', async () => {
    const starts = createTrainerStarts({ arePossible: false })
    expect((await failedAttempt(starts, { isBegun: true })).waitedMs).toBe(900_000)
    await starts.attempt({ baseModel: 'base', isBegun: false }, async () => undefined)
    expect((await failedAttempt(starts)).waitedMs).toBe(900_000)
    expect((await failedAttempt(starts, { baseModel: 'other' })).waitedMs).toBe(60_000)
  })

  it('makes a server pass one job on to others, and wait with the next until a job has run', async () => {
    const starts = createTrainerStarts({ arePossible: true })
    expect((await failedAttempt(starts)).error).toBeInstanceOf(PassedOn)
    expect(starts.isPaused()).toBe(true)
    expect(await failedAttempt(starts)).toEqual({ waitedMs: 60_000, error: unsent })
    expect((await failedAttempt(starts, { baseModel: 'other' })).error).toBeInstanceOf(PassedOn)
    const of = { baseModel: 'base', isBegun: false }
    expect(await starts.attempt(of, async (failingMs) => failingMs > 0)).toBe(true)
    expect((await failedAttempt(starts)).error).toBeInstanceOf(PassedOn)
  })
})
