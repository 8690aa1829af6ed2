import { describe, expect, it } from 'vitest'
import { draftsOf, limitIn, limitsIn } from './limits.ts'

describe('limitIn', () => {
  it('reads whole numbers above zero, with commas or without', () => {
    expect(limitIn('1,000')).toBe(1000)
    expect(limitIn('')).toBeNull()
    for (const text of ['0', '-1', '1.5', '1,50', '12.0', '10.000', 'many'])
      expect(limitIn(text)).toBeUndefined()
  })
})

describe('limitsIn', () => {
  it('leaves out what is not limited', () => {
    const limits = { storage_bytes: 10, training_jobs: 2 }
    expect(limitsIn(draftsOf(limits))).toEqual(limits)
    expect(limitsIn({ ...draftsOf(limits), query_rows: 'x' })).toBeUndefined()
  })
})
