import { describe, expect, it } from 'vitest'
import { EngineProcessLost } from '../../stores/compute/port.ts'
import { createTrainerStarts, PassedOn } from './trainer-starts.ts'

const unsent = new EngineProcessLost('no GPU', { request: 'unsent' })

/** Whether an attempt whose trainer cannot be started waits, and what it ends with. */
async function failedAttempt(starts: ReturnType<typeof createTrainerStarts>, baseModel = 'base') {
  let waitedMs = -1
  const error: unknown = await starts
    .attempt(baseModel, async (failingMs) => {
      waitedMs = failingMs
      throw unsent
    })
    .catch((thrown: unknown) => thrown)
  return { waits: waitedMs > 0, error }
}

describe('a trainer that cannot be started', () => {
  it('is waited for where no other server may have one', async () => {
    const starts = createTrainerStarts({ arePossible: false })
    expect(await failedAttempt(starts)).toEqual({ waits: true, error: unsent })
    expect(starts.isPaused()).toBe(false)
  })

  it('makes a server pass one job on to others, and wait with the next until a job has run', async () => {
    const starts = createTrainerStarts({ arePossible: true })
    expect((await failedAttempt(starts)).error).toBeInstanceOf(PassedOn)
    expect(starts.isPaused()).toBe(true)
    expect(await failedAttempt(starts)).toEqual({ waits: true, error: unsent })
    expect((await failedAttempt(starts, 'other')).error).toBeInstanceOf(PassedOn)
    expect(await starts.attempt('base', async (failingMs) => failingMs > 0)).toBe(true)
    expect((await failedAttempt(starts)).error).toBeInstanceOf(PassedOn)
  })
})
