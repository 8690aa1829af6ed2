import { describe, expect, it } from 'vitest'
import type { TraceDb } from '../../stores/trace-db/port.ts'
import { createUsage, type UsageDeps } from './service.ts'

const ROW = {
  hour: '2026-01-01 00:00:00',
  entity: 'weavers',
  project: 'loom',
  model: 'm',
  base_model: 'b',
  requests: 1,
  requests_cut: 0,
  prompt_tokens: 2,
  cached_tokens: 0,
  completion_tokens: 3,
  reasoning_tokens: 0,
}

/** A database that answers one query at a time, as a project with one slot has it, and says so by an error. */
function oneAtATime(answers: readonly (readonly object[])[]) {
  let open = 0
  const read = () => {
    if (open > 0) throw new Error('it waits for itself')
  }
  const left = [...answers]
  async function* query() {
    read()
    open++
    try {
      yield* left.shift() ?? []
    } finally {
      open--
    }
  }
  const costs = {
    async priceLists() {
      read()
      return new Map()
    },
  }
  return { traces: { query } as unknown as TraceDb, costs: costs as unknown as UsageDeps['costs'] }
}

describe('the sum of usage', () => {
  it('needs no read while another one is open, also for what came in between', async () => {
    const late = { ...ROW, project: 'late' }
    const deps = oneAtATime([[ROW], [ROW, late]])
    const usage = createUsage({ ...deps, counter: { flush: async () => {} } as UsageDeps['counter'] })
    const sum = await usage.total({ from: '2026-01-01T00:00:00Z', before: '2026-02-01T00:00:00Z' })
    expect(sum).toEqual({ tokens: 10, usd: 0 })
  })
})
