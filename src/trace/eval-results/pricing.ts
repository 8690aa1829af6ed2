import type { Price } from '../costs/prices.ts'
import type { Costs } from '../costs/service.ts'
import { totalCost, usageOf } from '../costs/usage-costs.ts'

export type Pricing = ReturnType<typeof createPricing>

/** Costs of calls of one project; the prices of a model are read once. */
export function createPricing(costs: Pick<Costs, 'priceLists'>, projectId: string) {
  const prices = new Map<string, readonly Price[]>()
  return {
    /**
     * What a call cost, whatever models it used; null where none has a price.
     * @param usage JSON, or '' for none
     * @param startedAt ISO 8601 with microseconds
     */
    async costOf(usage: string, startedAt: string): Promise<number | null> {
      if (usage === '') return null
      const used = usageOf(usage)
      const unknown = [...used.keys()].filter((model) => !prices.has(model))
      for (const [model, list] of await costs.priceLists(projectId, unknown)) prices.set(model, list)
      return totalCost(used, prices, startedAt)
    },
  }
}
