import { afterEach, describe, expect, it, vi } from 'vitest'
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

describe('the cost of usage', () => {
  afterEach(() => void vi.useRealTimers())

  it('is at a price that is at most a minute old, however often it is asked, and at none that could not be read', async () => {
    // The cache keeps the object `performance` that was there when its module was loaded, so fake timers do not reach
    // it.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    let now = performance.now()
    vi.spyOn(performance, 'now').mockImplementation(() => now)
    const pass = (ms: number) => {
      now += ms
      vi.advanceTimersByTime(ms)
    }
    let price: number | undefined
    const read = vi.fn(async () => {
      if (price === undefined) throw new Error('the database is away')
      const costs = { prompt_token_cost: price, cache_read_input_token_cost: 0, completion_token_cost: 0 }
      return new Map([
        ['m', [{ ...costs, effective_date: '2020-01-01T00:00:00Z', pricing_level: 'default' }]],
      ])
    })
    const usage = createUsage({ costs: { priceLists: read } } as unknown as UsageDeps)
    const cost = () => usage.chargeOf({ ...ROW, step: -1, key: '' })
    await expect(cost()).rejects.toThrow('the database is away')
    price = 1
    expect(await cost()).toBe(2)
    price = 2
    for (let second = 0; second < 58; second++) {
      pass(1_000)
      expect(await cost()).toBe(2)
    }
    pass(3_000)
    expect(await cost()).toBe(4)
    expect(read).toHaveBeenCalledTimes(3)
  })
})

describe('the sum of usage', () => {
  it('needs no read while another one is open, also for what came in between', async () => {
    const late = { ...ROW, project: 'late' }
    const deps = oneAtATime([[ROW], [ROW, late]])
    const usage = createUsage({ ...deps, counter: { flush: async () => {} } as UsageDeps['counter'] })
    const sum = await usage.total({ from: '2026-01-01T00:00:00Z', before: '2026-02-01T00:00:00Z' })
    expect(sum).toEqual({ tokens: 10, usd: 0 })
  })
})
