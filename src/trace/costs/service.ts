import type { Projects } from '../../accounts/projects.ts'
import { invalidRequest } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import { newId } from '../../ids.ts'
import { inChanges } from '../../stores/trace-db/keyed-changes.ts'
import type { TraceDb } from '../../stores/trace-db/port.ts'
import { nowIso } from '../../time.ts'
import { inBatches } from '../batches.ts'
import { collectReply } from '../collect-reply.ts'
import { dateTimeAt } from '../date-time.ts'
import { namedIds } from '../query-language/named-ids.ts'
import { sortedPageOf } from '../query-language/page.ts'
import { defaultPrices } from './default-prices.ts'
import { COST_FIELDS, costFields } from './fields.ts'
import type { Price } from './prices.ts'
import * as queries from './queries.ts'
import type * as wire from './wire.ts'

/** Prices of one model in one project that are considered, newest first: one a day for some years. */
const PRICES_PER_MODEL = 1000

/** Calls name models of any number and length, and a query has room for a limited list of values. */
const MODELS_PER_QUERY = { count: 10_000, bytes: 512 * 1024 }

/** About the characters of a cost in a reply. */
const COST_CHARS = 400

/** What tokens cost: prices that people enter for a project, and default prices that the server knows. */
export interface Costs {
  /** @throws 400 for an effective date that is none */
  create(req: wire.CostCreateReq, context: CallContext): Promise<wire.CostCreateRes>
  /** Wire: only prices of the project itself. */
  query(req: wire.CostQueryReq, context: CallContext): Promise<wire.CostQueryRes>
  /** @throws 400 for a query that does more than name ids, or names too many */
  purge(req: wire.CostPurgeReq): Promise<wire.CostPurgeRes>
  /** Every price of each model that could apply in a project; `priceAt` chooses. */
  priceLists(projectId: string, llmIds: readonly string[]): Promise<Map<string, Price[]>>
}

export function createCosts({ traces, projects }: { traces: TraceDb; projects: Projects }): Costs {
  async function priceLists(projectId: string, llmIds: readonly string[]): Promise<Map<string, Price[]>> {
    const wanted = [...new Set(llmIds)]
    if (wanted.length === 0) return new Map()
    const found: Price[] = []
    for (const models of inBatches(wanted, MODELS_PER_QUERY, (name) => ({ count: 1, bytes: name.length }))) {
      const query = queries.selectPrices(projectId, models, PRICES_PER_MODEL)
      for await (const price of traces.query<Price>(query)) found.push(price)
    }
    const own = Map.groupBy(found, (price) => price.llm_id)
    return new Map(wanted.map((llmId) => [llmId, [...(own.get(llmId) ?? []), ...defaultPrices(llmId)]]))
  }

  async function create(req: wire.CostCreateReq, { caller }: CallContext): Promise<wire.CostCreateRes> {
    const costs = Object.entries(req.costs)
    const at = nowIso()
    const rows = costs.map(([llm_id, cost]) => ({
      ...cost,
      project_id: req.project_id,
      id: newId(),
      llm_id,
      provider_id: cost.provider_id ?? 'default',
      effective_date:
        cost.effective_date == null
          ? at
          : dateTimeAt(['costs', llm_id, 'effective_date'], cost.effective_date),
      prompt_token_cost_unit: cost.prompt_token_cost_unit ?? 'USD',
      completion_token_cost_unit: cost.completion_token_cost_unit ?? 'USD',
      created_at: at,
      created_by: caller.user,
    }))
    await projects.ensureById(req.project_id)
    await traces.insert('costs', rows)
    return { ids: rows.map(({ id, llm_id }) => [id, llm_id]) }
  }

  async function query(req: wire.CostQueryReq, { signal }: CallContext) {
    const page = sortedPageOf(req)
    const fields = req.fields?.length ? costFields(req.fields) : COST_FIELDS
    const rows = traces.query<Partial<wire.Cost>>(queries.selectCosts(req, fields, page), signal)
    const found = await collectReply(rows, () => COST_CHARS)
    return { results: found.map((row) => ({ ...NO_COST, ...row })) }
  }

  async function purge(req: wire.CostPurgeReq) {
    const ids = namedIds(req.query)
    if (ids === undefined) throw invalidRequest('Can only purge costs by specifying one or more cost ids')
    for (const keys of inChanges(ids.map((id) => ({ id }))))
      await traces.command(queries.deleteCosts(req.project_id, keys))
    return {}
  }

  return { create, query, purge, priceLists }
}

const NO_COST: wire.Cost = {
  id: null,
  llm_id: null,
  provider_id: null,
  effective_date: null,
  prompt_token_cost: null,
  completion_token_cost: null,
  cache_read_input_token_cost: null,
  cache_creation_input_token_cost: null,
  prompt_token_cost_unit: null,
  completion_token_cost_unit: null,
}
