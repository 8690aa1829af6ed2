import { describe, expect, it } from 'vitest'
import { firstOf } from './port.ts'

describe('firstOf', () => {
  it('reads to the end, so that no query has to be ended', async () => {
    let isRead = false
    async function* rows() {
      yield { count: 1 }
      isRead = true
    }
    expect(await firstOf(rows())).toEqual({ count: 1 })
    expect(isRead).toBe(true)
  })

  it('is undefined where there is no row', async () => {
    async function* none() {}
    expect(await firstOf(none())).toBeUndefined()
  })
})
