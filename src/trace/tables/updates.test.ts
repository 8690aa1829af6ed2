import { describe, expect, it } from 'vitest'
import { applyUpdates, type StoredRow } from './updates.ts'
import type { TableUpdate } from './wire.ts'

const row = {} as Extract<TableUpdate, { append: unknown }>['append']['row'] // rows are known by `added` alone

/** Numbers below a limit that are the same in each run. */
function createNumbers(): (below: number) => number {
  let state = 1
  return (below) => {
    state = (state * 48_271) % 2_147_483_647
    return state % below
  }
}

describe('applyUpdates', () => {
  it('gives what the same updates make of an array, and the digest of each changed row', async () => {
    const number = createNumbers()
    const base = Array.from({ length: 5_000 }, (_, index) => `base ${index}`)
    const expected = [...base]
    const changed: string[] = []
    const added: StoredRow[] = []
    const updates = Array.from({ length: 20_000 }, (_, at): TableUpdate => {
      // More rows go than come in the first half, until none is left; then the table grows.
      const kind = number(at < 15_000 ? 10 : 4)
      if (kind > 3 && expected.length > 0) {
        const index = number(expected.length)
        changed.push(...expected.splice(index, 1))
        return { pop: { index } }
      }
      const index = kind === 0 ? expected.length : number(expected.length + 1)
      const digest = `added ${at}`
      added.push({ digest, val: '{}' })
      changed.push(digest)
      expected.splice(index, 0, digest)
      return kind === 0 ? { append: { row } } : { insert: { index, row } }
    })
    expect(expected.length).toBeGreaterThan(3_000)
    expect(await applyUpdates(updates, { base, added })).toEqual({ rowDigests: expected, updated: changed })
  })

  it('lets other work run between a hundred thousand updates of many rows', async () => {
    const base = Array.from({ length: 200_000 }, (_, index) => String(index))
    const updates = Array.from({ length: 100_000 }, () => ({ pop: { index: 0 } }))
    let turns = 0
    let isDone = false
    const count = (): void => {
      turns++
      if (!isDone) setImmediate(count)
    }
    setImmediate(count)
    const { rowDigests, updated } = await applyUpdates(updates, { base, added: [] })
    isDone = true
    expect([updated.at(-1), rowDigests[0], rowDigests.length]).toEqual(['99999', '100000', 100_000])
    expect(turns).toBeGreaterThan(50)
  })
})
