/** The price of one token of a model, and its source. Costs are in the unit, dates are ISO 8601 with microseconds. */
export interface Price {
  llm_id: string
  provider_id: string
  /** `project`: entered by people; `default`: known to the server. */
  pricing_level: 'default' | 'project'
  /** The project, or `default`. */
  pricing_level_id: string
  effective_date: string
  prompt_token_cost: number
  completion_token_cost: number
  cache_read_input_token_cost: number
  cache_creation_input_token_cost: number
  prompt_token_cost_unit: string
  completion_token_cost_unit: string
  created_at: string
  created_by: string
}

/**
 * The price of a model that applies at a time. Wire: prices in effect come before future ones, a project's before the
 * default, later ones before earlier ones; so a future price counts where nothing else is.
 */
export function priceAt(prices: readonly Price[], at: string): Price | undefined {
  return prices.reduce<Price | undefined>(
    (best, price) => (best === undefined || isBetter(price, best, at) ? price : best),
    undefined,
  )
}

/** Calls and prices may be many, so nothing is made for a comparison. */
function isBetter(price: Price, best: Price, at: string): boolean {
  const isInEffect = price.effective_date <= at
  const isBestInEffect = best.effective_date <= at
  if (isInEffect !== isBestInEffect) return isInEffect
  if (price.pricing_level !== best.pricing_level) return price.pricing_level === 'project'
  if (price.effective_date !== best.effective_date) return price.effective_date > best.effective_date
  return price.created_at > best.created_at
}
