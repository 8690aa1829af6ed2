import { LRUCache } from 'lru-cache'
import { ALL_RIGHTS } from '../../access.ts'
import { invalidRequest } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import { rowsOf, type TraceDb } from '../../stores/trace-db/port.ts'
import { DAY_MS, isoMicros } from '../../time.ts'
import { type Price, priceAt } from '../../trace/costs/prices.ts'
import type { Costs } from '../../trace/costs/service.ts'
import { NO_STEP, type UsageCounter } from './counter.ts'
import { selectUsage, type UsageFilter } from './queries.ts'
import type { UsageRow } from './usage-row.ts'
import { DIMENSIONS, type Dimension, type UsageGroup, type UsageQuery, type UsageRes } from './wire.ts'

/** Groups that one answer holds at most: a year of hours of one model. */
const GROUPS_MAX = 10_000

/** The default range of an answer. */
const DAYS = 30

/** Prices that are remembered for requests that end one after the other. */
const PRICES_MAX = 1_000
const PRICES_MS = 60_000

/** What has a list of prices, and what a price of it depends on. */
const NAMED_BY = ['entity', 'project', 'model', 'base_model'] as const
const PRICED_BY = ['hour', ...NAMED_BY] as const

type Named = Pick<UsageRow, (typeof NAMED_BY)[number]>
type Priced = Pick<UsageRow, (typeof PRICED_BY)[number]>
type Row = Priced & Partial<UsageRow> & Counts
type Counts = Pick<
  UsageRow,
  'requests' | 'requests_cut' | 'prompt_tokens' | 'cached_tokens' | 'completion_tokens' | 'reasoning_tokens'
>

export interface UsageDeps {
  traces: TraceDb
  costs: Costs
  counter: UsageCounter
}

/** The usage of completions, grouped and filtered. */
export interface Usage {
  /**
   * Of what the caller may see: the usage of its entities and of its own key. Everything up to now, the request before
   * this one included; where other servers have answered requests within the last second, these may be missing.
   * @throws 400 for more groups than one answer holds, 503 where usage cannot be stored.
   */
  query(query: UsageQuery, context: CallContext): Promise<UsageRes>
  /**
   * What budgets count of all stored usage of a time, without a check of access. Tokens are of prompts and answers;
   * what has no price costs nothing.
   */
  total(filter: Omit<UsageFilter, 'seenBy'>): Promise<{ tokens: number; usd: number }>
  /**
   * What a budget counts of a request, in dollars, at a price that is at most a minute old; nothing where no price is
   * known.
   */
  chargeOf(row: UsageRow): Promise<number>
}

export function createUsage({ traces, costs, counter }: UsageDeps): Usage {
  const recentLists = new LRUCache<string, Promise<Map<string, Price[]>>>({ max: PRICES_MAX, ttl: PRICES_MS })

  function priceListOf({ entity, project, model, base_model }: Named): Promise<Map<string, Price[]>> {
    return costs.priceLists(`${entity}/${project}`, [model, base_model])
  }

  function recentListOf(row: Named): Promise<Map<string, Price[]>> {
    const name = nameOf(row)
    const known = recentLists.get(name)
    if (known !== undefined) return known
    const list = priceListOf(row)
    recentLists.set(name, list)
    list.catch(() => {
      if (recentLists.peek(name) === list) recentLists.delete(name)
    })
    return list
  }

  async function chargeOf(row: UsageRow): Promise<number> {
    return chargeAt(priceIn(await recentListOf(row), row), row)
  }

  /**
   * Rows with their prices. These are read before the rows, and those of what came in between after them: a read that
   * waits for another one while it is open can wait for itself, since a project has few at a time.
   */
  async function* priced(filter: UsageFilter, columns: readonly string[], signal?: AbortSignal) {
    const prices = new Map<string, Map<string, Price[]>>()
    const named = await rowsOf(traces.query<Named>(selectUsage(filter, NAMED_BY), signal))
    for (const row of named) prices.set(nameOf(row), await priceListOf(row))
    const late: Row[] = []
    for await (const row of traces.query<Row>(selectUsage(filter, columns), signal)) {
      const list = prices.get(nameOf(row))
      if (list === undefined) late.push(row)
      else yield { row, price: priceIn(list, row) }
    }
    for (const row of late) yield { row, price: priceIn(await priceListOf(row), row) }
  }

  async function query(query: UsageQuery, { caller, signal }: CallContext) {
    await counter.flush()
    const now = Date.now()
    const from = query.from ?? new Date(now - DAYS * DAY_MS).toISOString()
    const before = query.before ?? new Date(now + 1).toISOString()
    const by = DIMENSIONS.filter((dimension) => query.group_by.includes(dimension))
    const columns = [...new Set([...by, ...PRICED_BY])]
    const groups = new Map<string, UsageGroup>()
    for await (const { row, price } of priced({ ...query, from, before, seenBy: caller }, columns, signal)) {
      const key = JSON.stringify(by.map((dimension) => row[dimension]))
      const group = groups.get(key) ?? emptyGroup(row, by)
      groups.set(key, group)
      if (groups.size > GROUPS_MAX) {
        throw invalidRequest(`More than ${GROUPS_MAX} groups: ask for less time or fewer dimensions`)
      }
      addTo(group, row, price)
    }
    return { object: 'list' as const, from, before, data: [...groups.values()] }
  }

  async function total(filter: Omit<UsageFilter, 'seenBy'>) {
    const seenBy = { keyId: '', rights: ALL_RIGHTS }
    const sum = { tokens: 0, usd: 0 }
    for await (const { row, price } of priced({ ...filter, seenBy }, PRICED_BY)) {
      sum.tokens += row.prompt_tokens + row.completion_tokens
      sum.usd += chargeAt(price, row)
    }
    return sum
  }

  return { query, total, chargeOf }
}

function nameOf({ entity, project, model, base_model }: Named): string {
  return JSON.stringify([entity, project, model, base_model])
}

/** Of the model, or else of its base model. */
function priceIn(prices: Map<string, Price[]>, { hour, model, base_model }: Priced): Price | undefined {
  const at = isoMicros(hour) ?? hour
  return [model, base_model]
    .map((name) => priceAt(prices.get(name) ?? [], at))
    .find((price) => price !== undefined)
}

function emptyGroup(row: Row, by: readonly Dimension[]): UsageGroup {
  const named = by.map((dimension) => [
    dimension,
    dimension === 'step' && row.step === NO_STEP ? null : row[dimension],
  ])
  return {
    ...Object.fromEntries(named),
    requests: 0,
    requests_cut: 0,
    prompt_tokens: 0,
    cached_tokens: 0,
    completion_tokens: 0,
    reasoning_tokens: 0,
    total_tokens: 0,
    cost_usd: null,
  }
}

function addTo(group: UsageGroup, row: Counts, price: Price | undefined): void {
  group.requests += row.requests
  group.requests_cut += row.requests_cut
  group.prompt_tokens += row.prompt_tokens
  group.cached_tokens += row.cached_tokens
  group.completion_tokens += row.completion_tokens
  group.reasoning_tokens += row.reasoning_tokens
  group.total_tokens += row.prompt_tokens + row.completion_tokens
  const cost = costAt(price, row)
  if (cost !== undefined) group.cost_usd = (group.cost_usd ?? 0) + cost
}

/** What a budget counts. Wire: members may set negative prices, by which a request would give back what was counted. */
function chargeAt(price: Price | undefined, row: Counts): number {
  return Math.max(0, costAt(price, row) ?? 0)
}

function costAt(price: Price | undefined, row: Counts): number | undefined {
  if (price === undefined) return undefined
  return (
    (row.prompt_tokens - row.cached_tokens) * price.prompt_token_cost +
    row.cached_tokens * price.cache_read_input_token_cost +
    row.completion_tokens * price.completion_token_cost
  )
}
