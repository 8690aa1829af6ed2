import { z } from 'zod'
import { memberText } from '../../lossless-json.ts'
import { type Price, priceAt } from './prices.ts'

/** Values that are not numbers count as 0: clients copy what their model's service returned. */
const Count = z.number().catch(0)

/** Wire: services name the tokens in one of two ways. */
const ModelUsage = z.object({
  requests: Count,
  prompt_tokens: Count,
  input_tokens: Count,
  completion_tokens: Count,
  output_tokens: Count,
  total_tokens: Count,
  cache_read_input_tokens: Count,
  cache_creation_input_tokens: Count,
})
type ModelUsage = z.output<typeof ModelUsage>

const Usage = z.record(z.string(), ModelUsage.catch(ModelUsage.parse({}))).catch({})

/** The usage in a call's summary, by model. */
export function usageIn(summary: string | null | undefined): Map<string, ModelUsage> {
  const text = summary == null ? undefined : memberText(summary, 'usage')
  return usageOf(text ?? 'null')
}

/** The same, of what the summary has as `usage`. */
export function usageOf(usage: string): Map<string, ModelUsage> {
  return new Map(Object.entries(Usage.parse(JSON.parse(usage))))
}

/** What the usage of a call costs, by model, at the prices of its start; undefined when none has a price. */
export function costsOf(
  usage: ReadonlyMap<string, ModelUsage>,
  prices: ReadonlyMap<string, readonly Price[]>,
  at: string,
): Record<string, ModelCosts> | undefined {
  const priced = [...usage].flatMap(([model, counts]) => {
    const price = priceAt(prices.get(model) ?? [], at)
    return price === undefined ? [] : [[model, costOf(counts, price)] as const]
  })
  return priced.length === 0 ? undefined : Object.fromEntries(priced)
}

/** The same together, whatever models it used; null when none has a price. */
export function totalCost(
  usage: ReadonlyMap<string, ModelUsage>,
  prices: ReadonlyMap<string, readonly Price[]>,
  at: string,
): number | null {
  const costs = costsOf(usage, prices, at)
  if (costs === undefined) return null
  return Object.values(costs).reduce(
    (sum, one) =>
      sum +
      one.prompt_tokens_total_cost +
      one.completion_tokens_total_cost +
      one.cache_read_input_tokens_total_cost +
      one.cache_creation_input_tokens_total_cost,
    0,
  )
}

/** The tokens and costs of one model, and the price that was applied. */
interface ModelCosts extends Omit<Price, 'llm_id'> {
  requests: number
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
  cache_read_input_tokens: number
  cache_creation_input_tokens: number
  prompt_tokens_total_cost: number
  completion_tokens_total_cost: number
  cache_read_input_tokens_total_cost: number
  cache_creation_input_tokens_total_cost: number
}

/** Wire: cached tokens are among those of the prompt and have prices of their own. */
function costOf(counts: ModelUsage, { llm_id: _, ...price }: Price): ModelCosts {
  const { requests, total_tokens, cache_read_input_tokens, cache_creation_input_tokens } = counts
  const prompt_tokens = counts.prompt_tokens + counts.input_tokens
  const completion_tokens = counts.completion_tokens + counts.output_tokens
  // Some services count cached tokens beside the prompt's instead, which must not make a cost negative.
  const uncached = Math.max(0, prompt_tokens - cache_read_input_tokens - cache_creation_input_tokens)
  return {
    requests,
    prompt_tokens,
    completion_tokens,
    total_tokens,
    cache_read_input_tokens,
    cache_creation_input_tokens,
    prompt_tokens_total_cost: uncached * price.prompt_token_cost,
    completion_tokens_total_cost: completion_tokens * price.completion_token_cost,
    cache_read_input_tokens_total_cost: cache_read_input_tokens * price.cache_read_input_token_cost,
    cache_creation_input_tokens_total_cost:
      cache_creation_input_tokens * price.cache_creation_input_token_cost,
    ...price,
  }
}
