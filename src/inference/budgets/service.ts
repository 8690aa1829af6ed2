import { LRUCache } from 'lru-cache'
import { ALL_RIGHTS } from '../../access.ts'
import type { StoredLimits } from '../../accounts/limits/service.ts'
import { budgetSpent } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import type { Budget, BudgetLeft, Spender } from '../gateway/budget.ts'
import type { Usage } from '../usage/service.ts'
import type * as wire from './wire.ts'

/** Subjects whose spending is remembered. */
const REMEMBERED_MAX = 10_000

/**
 * How old the sum of the database may be. Tokens that this server counts are added at once, so a budget of tokens is
 * overrun only by what is running; what they cost is known after this time.
 */
const SUM_MS_MAX = 10_000

interface Spent {
  month: string
  tokens: number
  usd: number
}

/** Tokens and money that entities and keys may spend on models of this server, by calendar months of UTC. */
export interface Budgets extends Budget {
  /** The budget of an entity, and what of it is spent. */
  read(req: { entity: string }, context: CallContext): Promise<wire.BudgetRes>
}

/** @param now the time, for tests */
export function createBudgets(
  { limits, usage }: { limits: Pick<StoredLimits, 'limitedOf'>; usage: Pick<Usage, 'query'> },
  now: () => Date = () => new Date(),
): Budgets {
  const sums = new LRUCache<string, Promise<Spent>>({ max: REMEMBERED_MAX, ttl: SUM_MS_MAX })

  async function sum(subject: string, signal: AbortSignal): Promise<Spent> {
    const { start: from } = monthOf(now())
    const [kind, name = ''] = subject.split(/:(.*)/s)
    const filter = kind === 'key' ? { key: name } : { entity: name }
    // Sums are the server's own knowledge, whoever asks.
    const caller = { user: '', defaultEntity: '', keyId: '', rights: ALL_RIGHTS }
    const context = { caller, signal, requestId: '', header: () => undefined }
    const { data } = await usage.query({ group_by: ['entity'], from, ...filter }, context)
    return {
      month: from,
      tokens: data.reduce((total, group) => total + group.total_tokens, 0),
      usd: data.reduce((total, group) => total + (group.cost_usd ?? 0), 0),
    }
  }

  async function spentOf(subject: string, signal: AbortSignal): Promise<Spent> {
    const known = await sums.get(subject)
    if (known?.month === monthOf(now()).start) return known
    const summing = sum(subject, signal)
    sums.set(subject, summing)
    summing.catch(() => sums.delete(subject))
    return summing
  }

  async function leftOf(subject: string, signal: AbortSignal): Promise<BudgetLeft | undefined> {
    const { tokens_per_month, usd_per_month, warn_at } = await limits.limitedOf(subject)
    if (tokens_per_month === null && usd_per_month === null) return undefined
    const spent = await spentOf(subject, signal)
    const shares = [shareLeft(spent.tokens, tokens_per_month), shareLeft(spent.usd, usd_per_month)]
    const remaining = Math.min(...shares)
    return { remaining, isLow: 1 - remaining >= warn_at }
  }

  async function check(spender: Spender, signal: AbortSignal) {
    let least: BudgetLeft | undefined
    for (const subject of subjectsOf(spender)) {
      const left = await leftOf(subject, signal)
      if (left === undefined) continue
      if (left.remaining <= 0) {
        const whose = subject.startsWith('key:') ? 'this key' : subject.slice('entity:'.length)
        const { seconds } = monthOf(now())
        throw budgetSpent(
          `The budget of ${whose} for this month is spent; it begins anew with the next month`,
          seconds,
        )
      }
      if (least === undefined || left.remaining < least.remaining) least = left
    }
    return least
  }

  function add(spender: Spender, tokens: number): void {
    for (const subject of subjectsOf(spender)) {
      sums
        .peek(subject)
        ?.then((spent) => {
          spent.tokens += tokens
        })
        .catch(() => {})
    }
  }

  async function read({ entity }: { entity: string }, { signal }: CallContext): Promise<wire.BudgetRes> {
    const { tokens_per_month, usd_per_month, warn_at } = await limits.limitedOf(`entity:${entity}`)
    const spent = await spentOf(`entity:${entity}`, signal)
    const left = Math.min(shareLeft(spent.tokens, tokens_per_month), shareLeft(spent.usd, usd_per_month))
    return {
      entity,
      from: spent.month,
      before: monthOf(now()).end,
      tokens_per_month,
      tokens_spent: spent.tokens,
      usd_per_month,
      usd_spent: spent.usd,
      is_low: left < Number.POSITIVE_INFINITY && 1 - left >= warn_at,
      is_spent: left <= 0,
    }
  }

  return { check, add, read }
}

function subjectsOf({ keyId, entity }: Spender): string[] {
  return [`key:${keyId}`, ...(entity === undefined ? [] : [`entity:${entity}`])]
}

/** Infinite without a budget, so that it is never the smallest. */
function shareLeft(spent: number, budget: number | null): number {
  if (budget === null) return Number.POSITIVE_INFINITY
  return budget === 0 ? 0 : Math.max(0, 1 - spent / budget)
}

/** The calendar month of a time, in UTC: its start and end, and the seconds that are left of it. */
function monthOf(at: Date): { start: string; end: string; seconds: number } {
  const start = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth()))
  const end = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1))
  return {
    start: start.toISOString(),
    end: end.toISOString(),
    seconds: Math.ceil((end.getTime() - at.getTime()) / 1000),
  }
}
