import type { Price } from '../../trace/costs/prices.ts'
import type { Costs } from '../../trace/costs/service.ts'
import { totalCost, usageOf } from '../../trace/costs/usage-costs.ts'

/** Models whose prices are in memory together; evaluations use few. */
const MODELS_MAX = 10_000

/** Costs of calls of one project; the prices of a model are mostly read once. */
export interface TrialCosts {
  /**
   * What a call cost, whatever models it used; null where none has a price.
   * @param usage JSON, or '' for none
   * @param startedAt ISO 8601 with microseconds
   */
  costOf(usage: string, startedAt: string): Promise<number | null>
}

export function createTrialCosts(costs: Pick<Costs, 'priceLists'>, projectId: string): TrialCosts {
  const prices = new Map<string, readonly Price[]>()

  async function costOf(usage: string, startedAt: string): Promise<number | null> {
    if (usage === '') return null
    const used = usageOf(usage)
    if (prices.size + used.size > MODELS_MAX) prices.clear()
    const unknown = [...used.keys()].filter((model) => !prices.has(model))
    for (const [model, list] of await costs.priceLists(projectId, unknown)) prices.set(model, list)
    return totalCost(used, prices, startedAt)
  }

  return { costOf }
}
