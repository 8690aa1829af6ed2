import TABLE from './default-prices.json' with { type: 'json' }
import type { Price } from './prices.ts'

const DEFAULT = 'default'

/** Public list prices of models, as far as known. */
export function defaultPrices(llmId: string): readonly Price[] {
  const price = PRICES.get(llmId)
  return price === undefined ? [] : [price]
}

const PRICES = new Map(
  Object.entries(TABLE.prices).flatMap(([provider, models]) => pricesOf(provider, models)),
)

/**
 * Models that the table lists under one provider only are also called `provider/name` by clients of several providers.
 */
function pricesOf(provider: string, models: Record<string, number[]>): [string, Price][] {
  return Object.entries(models).flatMap(([name, row]) => {
    const names = name.includes('/') ? [name] : [name, `${provider}/${name}`]
    return names.map((llmId): [string, Price] => [llmId, priceOf(llmId, provider, row)])
  })
}

/** `row` has the columns of the table. */
function priceOf(llmId: string, provider: string, row: readonly number[]): Price {
  const [prompt = 0, completion = 0, cacheRead = 0, cacheCreation = 0] = row
  return {
    llm_id: llmId,
    provider_id: provider,
    pricing_level: DEFAULT,
    pricing_level_id: DEFAULT,
    effective_date: TABLE.effective_date,
    prompt_token_cost: prompt,
    completion_token_cost: completion,
    cache_read_input_token_cost: cacheRead,
    cache_creation_input_token_cost: cacheCreation,
    prompt_token_cost_unit: 'USD',
    completion_token_cost_unit: 'USD',
    created_at: TABLE.effective_date,
    created_by: DEFAULT,
  }
}
