import { expect, it } from 'vitest'
import { NO_CALLER_LIMITS } from '../../http/caller-limits.ts'
import { SILENT } from '../../test-log.ts'
import type { UsageRow } from '../usage/usage-row.ts'
import { type Account, createAccount } from './account.ts'
import { createLedger } from './ledger.ts'
import { monthAt } from './month.ts'

const SPENDER = { keyId: 'key', entity: 'team', project: undefined }
const ROW: UsageRow = {
  ...{ entity: 'team', project: '', key: 'key', model: 'model', base_model: 'model', step: -1 },
  ...{ hour: '2030-05-01T00:00:00Z', requests: 1, requests_cut: 0 },
  ...{ prompt_tokens: 1, cached_tokens: 0, completion_tokens: 1, reasoning_tokens: 0 },
}

it('usage whose price could not be read counts once it can be, and asks the databases no more than every ten seconds', async () => {
  const start = Date.parse('2030-05-01T00:00:00Z')
  let passedMs = 0
  const now = () => new Date(start + passedMs)
  const stored = { usd: 0, readable: false, loads: 0 }
  const budget = {
    ...{ id: 'budget', entity: 'team', project: null, key_id: null, unit: 'usd' as const, amount: 10 },
    ...{ warn_at: 0.8, created_at: '', created_by: '' },
  }
  let account: Account = createAccount(budget, now)
  const accountBook = {
    of: () => [account],
    countedFor: () => [account],
    async load() {
      stored.loads++
      if (!stored.readable) throw new Error('the database does not answer')
      account = createAccount(budget, now)
      account.setBase(monthAt(now()), stored.usd)
    },
  }
  const chargeOf = async () => {
    throw new Error('the database does not answer')
  }
  const audit = { record: async () => {} }
  const ledger = createLedger({ accountBook, usage: { chargeOf }, audit, log: SILENT, now })

  stored.usd = 12
  ledger.add(ROW)
  await ledger.admit(SPENDER, {})
  expect(stored.loads).toBe(0)
  passedMs = 10_000
  await ledger.admit(SPENDER, {})
  await ledger.admit(SPENDER, {})
  expect(stored.loads).toBe(1)
  stored.readable = true
  passedMs = 20_000
  await expect(ledger.admit(SPENDER, {})).rejects.toThrow('The budget of team is spent')
  await expect(ledger.admit(SPENDER, {})).rejects.toThrow('The budget of team is spent')
  expect(stored.loads).toBe(2)
})

it('the warning of a project with any name is a header that can be sent', () => {
  const now = () => new Date('2030-05-01T00:00:00Z')
  const budget = {
    ...{
      id: 'budget',
      entity: 'team',
      project: 'проект 1%',
      key_id: null,
      unit: 'tokens' as const,
      amount: 10,
    },
    ...{ warn_at: 0.8, created_at: '', created_by: '' },
  }
  const account = createAccount(budget, now)
  account.setBase(monthAt(now()), 9)
  const ledger = createLedger({
    accountBook: { of: () => [account], countedFor: () => [], load: async () => {} },
    usage: { chargeOf: async () => 0 },
    audit: { record: async () => {} },
    log: SILENT,
    now,
  })
  const headers = new Headers()
  const limits = NO_CALLER_LIMITS.open(undefined as never)
  ledger.show(SPENDER, { limits: { ...limits, setHeader: (name, value) => headers.set(name, value) } })
  const warning = headers.get('x-heddle-budget-warning') ?? ''
  expect(warning).toMatch(/^The budget of team\/(%\w\w)+ 1%25 is nearly spent/)
  expect(decodeURIComponent(warning)).toContain('team/проект 1% is nearly spent')
})
