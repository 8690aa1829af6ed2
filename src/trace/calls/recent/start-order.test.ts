import { describe, expect, it } from 'vitest'
import { seeded } from '../../../test-random.ts'
import { isoOfMicros } from '../../../time.ts'
import { createKeptCall, forgetEvicted, type KeptCall, mergeRow } from './kept-call.ts'
import { createPayloadSlabs } from './payload-slabs.ts'
import { createStartOrder, oldestFirst } from './start-order.ts'

const MEMORY = { slabs: createPayloadSlabs(), share: (text: string) => text }

const rowOf = (id: number, startedAt: number) => ({
  project_id: 'me/project',
  id: String(id).padStart(8, '0'),
  has_start: 1 as const,
  started_at: isoOfMicros(startedAt),
})

describe('the order of calls by their start', () => {
  it.each([1, 2, 3])('is that of all calls sorted anew, seed %i', (seed) => {
    const random = seeded(seed)
    const order = createStartOrder()
    const calls = new Set<KeptCall>()
    for (let step = 0; step < 4000; step++) {
      const kind = random()
      const [some] = calls
      if (kind < 0.6 || some === undefined) {
        // Mostly later than all before, sometimes the same moment or long ago.
        const startedAt = kind < 0.05 ? Math.floor(random() * step) : Math.floor(step / 2)
        const call = createKeptCall(rowOf(step, startedAt), MEMORY)
        calls.add(call)
        order.add(call)
      } else if (kind < 0.9) {
        forgetEvicted(some, MEMORY.slabs)
        calls.delete(some)
        order.evicted()
      } else if (kind < 0.92) {
        mergeRow(some, rowOf(Number(some.id), step * 2), MEMORY)
        order.moved()
      } else {
        expect([...order.newest()]).toEqual([...calls].sort(oldestFirst).reverse())
      }
    }
  })
})
