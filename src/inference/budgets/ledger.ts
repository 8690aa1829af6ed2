import type { Audit, Audited } from '../../accounts/audit/service.ts'
import { messageOf, spent } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import type { Log } from '../../log.ts'
import type { Spender } from '../gateway/spending.ts'
import type { Usage } from '../usage/service.ts'
import type { UsageRow } from '../usage/usage-row.ts'
import { type Account, shown, subjectOf } from './account.ts'
import type { AccountBook } from './account-book.ts'
import { headerText } from './header-text.ts'
import { monthAt } from './month.ts'

/** Between two tries to read anew what was spent: each asks the databases that have just failed. */
const READ_AGAIN_MS = 10_000

export interface LedgerDeps {
  accountBook: Pick<AccountBook, 'of' | 'countedFor' | 'load'>
  usage: Pick<Usage, 'chargeOf'>
  audit: Pick<Audit, 'record'>
  log: Log
  now: () => Date
}

/**
 * Keeps requests within budgets. A budget is asked before a request and counted after it, so that it is overrun at most
 * by what runs when it is spent.
 */
export interface Ledger {
  /** @throws 402 until the next month where a budget of the spender is spent */
  admit(spender: Spender, context: Pick<CallContext, 'limits'>): Promise<void>
  /** Says in headers of the reply what is left. */
  show(spender: Spender, context: Pick<CallContext, 'limits'>): void
  /** Counts usage. */
  add(row: UsageRow): void
}

export function createLedger({ accountBook, usage, audit, log, now }: LedgerDeps): Ledger {
  /** Resolves when the costs of all usage so far have been counted. */
  let priced: Promise<void> = Promise.resolve()
  /** Entities with budgets that lack some usage, since its price could not be read, and when they are read anew. */
  const lacking = new Map<string, number>()

  async function admit(spender: Spender, context: Pick<CallContext, 'limits'>): Promise<void> {
    const inMoney = accountBook.of(spender).filter(({ budget }) => budget.unit === 'usd')
    if (inMoney.length > 0) await priced
    for (const entity of new Set(inMoney.map(({ budget }) => budget.entity))) await readLacking(entity)
    show(spender, context)
    for (const account of accountBook.of(spender)) {
      const { state, message } = account.stand()
      if (state !== 'spent') continue
      const seconds = (Date.parse(monthAt(now()).until) - now().getTime()) / 1000
      throw spent(message ?? '', Math.ceil(seconds))
    }
  }

  /** Where it fails, requests go on within what is counted. */
  async function readLacking(entity: string): Promise<void> {
    const at = lacking.get(entity)
    if (at === undefined || at > now().getTime()) return
    lacking.delete(entity)
    try {
      await accountBook.load(entity)
    } catch (error) {
      noteLacking(entity)
      log.warn({ entity, reason: messageOf(error) }, 'what was spent of budgets could not be read')
    }
  }

  function noteLacking(entity: string): void {
    lacking.set(entity, now().getTime() + READ_AGAIN_MS)
  }

  function show(spender: Spender, { limits }: Pick<CallContext, 'limits'>): void {
    const [tightest] = accountBook
      .of(spender)
      .map(({ budget, stand }) => ({ budget, ...stand() }))
      .toSorted((one, other) => one.remaining / one.budget.amount - other.remaining / other.budget.amount)
    if (tightest === undefined) return
    const { budget, remaining, message } = tightest
    limits?.setHeader('x-heddle-budget-remaining', `${shown(remaining)} ${budget.unit}`)
    if (message !== null) limits?.setHeader('x-heddle-budget-warning', headerText(message))
  }

  function add(row: UsageRow): void {
    const accounts = accountBook.countedFor(row)
    const inMoney = accounts.filter(({ budget }) => budget.unit === 'usd')
    for (const account of accounts)
      if (account.budget.unit === 'tokens') count(account, row.prompt_tokens + row.completion_tokens, row)
    if (inMoney.length === 0) return
    priced = Promise.all([usage.chargeOf(row), priced])
      .then(([charge]) => {
        for (const account of inMoney) count(account, charge, row)
      })
      .catch((error: unknown) => {
        for (const { budget } of inMoney) noteLacking(budget.entity)
        log.warn({ err: error, usage: row }, 'budgets do not count this usage until they are read anew')
      })
  }

  /** Counts, and records that a budget has come to its warning or its end. */
  function count(account: Account, amount: number, { key }: UsageRow): void {
    const state = account.add(amount)
    if (state === undefined || state === 'within') return
    const { entity } = account.budget
    const details = { message: account.stand().message }
    const event: Audited = { action: `budget.${state}`, entity, subject: subjectOf(account.budget), details }
    audit
      .record({ user: RECORDED_BY, keyId: key }, event)
      .catch((error: unknown) => log.warn({ reason: messageOf(error) }, 'a budget was not recorded'))
  }

  return { admit, show, add }
}

/** The server notices by itself that a budget is spent; the key is that of the request that spent it. */
const RECORDED_BY = 'server'
