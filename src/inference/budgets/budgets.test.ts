import { describe, expect, it } from 'vitest'
import { createBudgets } from './service.ts'

const signal = new AbortController().signal
const SPENDER = { keyId: 'k', entity: 'team' }

function budgetsAt(time: { now: string }, spent: { tokens: number }) {
  const limited = { requests_per_minute: null, tokens_per_month: 100, usd_per_month: null, warn_at: 0.8 }
  const none = { ...limited, tokens_per_month: null }
  const limits = { limitedOf: async (subject: string) => (subject === 'entity:team' ? limited : none) }
  const usage = {
    async query({ from = '' }: { from?: string | undefined }) {
      const data = [{ total_tokens: from.startsWith('2026-01') ? spent.tokens : 0, cost_usd: null }]
      return { object: 'list' as const, from, before: '', data: data as never }
    },
  }
  return createBudgets({ limits, usage }, () => new Date(time.now))
}

describe('createBudgets', () => {
  it('warns from its share on, ends when it is spent, and begins anew with the month', async () => {
    const time = { now: '2026-01-31T23:59:50Z' }
    const budgets = budgetsAt(time, { tokens: 70 })
    expect(await budgets.check(SPENDER, signal)).toMatchObject({ isLow: false })
    budgets.add(SPENDER, 15)
    expect(await budgets.check(SPENDER, signal)).toMatchObject({ isLow: true })
    budgets.add(SPENDER, 15)
    await expect(budgets.check(SPENDER, signal)).rejects.toMatchObject({ status: 402, retryAfterSeconds: 10 })
    time.now = '2026-02-01T00:00:00Z'
    expect(await budgets.check(SPENDER, signal)).toMatchObject({ remaining: 1, isLow: false })
  })

  it('has no limit for others', async () => {
    const budgets = budgetsAt({ now: '2026-01-01T00:00:00Z' }, { tokens: 1000 })
    expect(await budgets.check({ keyId: 'k', entity: 'other' }, signal)).toBeUndefined()
  })
})
