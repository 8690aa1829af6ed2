import { describe, expect, it } from 'vitest'
import { draftsOf, isShorter, retentionIn } from './retention.ts'

const NONE = {
  payloads: null,
  calls: null,
  files: null,
  trajectories: null,
  run_metrics: null,
  run_logs: null,
}

describe('retentionIn', () => {
  it('reads back what the fields were made of', () => {
    const retention = { ...NONE, calls: 30, run_logs: 36_500 }
    expect(retentionIn(draftsOf(retention))).toEqual(retention)
  })

  it.each(['0', '-1', '1.5', 'ten', '36501'])('does not take %s for a number of days', (calls) => {
    expect(retentionIn({ ...draftsOf(NONE), calls })).toBeUndefined()
  })
})

describe('isShorter', () => {
  it('asks where a kind was kept longer, or without end', () => {
    expect(isShorter({ ...NONE, calls: 30 }, NONE)).toBe(true)
    expect(isShorter({ ...NONE, calls: 7 }, { ...NONE, calls: 30 })).toBe(true)
    expect(isShorter({ ...NONE, calls: 90 }, { ...NONE, calls: 30 })).toBe(false)
    expect(isShorter(NONE, { ...NONE, calls: 30 })).toBe(false)
  })
})
