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

function isBetter(price: Price, best: Price, at: string): boolean {
  const [ours, theirs] = [rankOf(price, at), rankOf(best, at)]
  const index = ours.findIndex((rank, position) => rank !== theirs[position])
  return index !== -1 && (ours[index] ?? '') > (theirs[index] ?? '')
}

/** Sort keys of prices, the decisive first. */
function rankOf(price: Price, at: string): string[] {
  return [
    price.effective_date <= at ? 'in effect' : 'future',
    price.pricing_level === 'project' ? 'project' : 'default',
    price.effective_date,
    price.created_at,
  ]
}
