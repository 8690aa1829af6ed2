import { isRecord } from '../../json/is-record.ts'
import { memberText } from '../../json/lossless-json.ts'
import { type Price, priceAt } from './prices.ts'

/**
 * Models of one call that are read; calls of one model have one, and those of agents some. Work for a call grows with
 * it.
 */
const MODELS_MAX = 1000

/** Wire: services name the tokens in one of two ways. */
interface ModelUsage {
  requests: number
  prompt_tokens: number
  input_tokens: number
  completion_tokens: number
  output_tokens: number
  total_tokens: number
  cache_read_input_tokens: number
  cache_creation_input_tokens: number
}

/** The usage in a call's summary, by model; no more than its first {@link MODELS_MAX} models. */
export function usageIn(summary: string | null | undefined): Map<string, ModelUsage> {
  const text = summary == null ? undefined : memberText(summary, 'usage')
  return usageOf(text ?? 'null')
}

/** The same, of what the summary has as `usage`. */
export function usageOf(usage: string): Map<string, ModelUsage> {
  const byModel: unknown = JSON.parse(usage)
  const found = new Map<string, ModelUsage>()
  if (!isRecord(byModel)) return found
  for (const model of Object.keys(byModel).slice(0, MODELS_MAX)) found.set(model, countsOf(byModel[model]))
  return found
}

/** Values that are not numbers count as 0: clients copy what their model's service returned. */
function countsOf(given: unknown): ModelUsage {
  const count = (name: string): number => {
    const value = isRecord(given) ? given[name] : undefined
    return typeof value === 'number' && Number.isFinite(value) ? value : 0
  }
  return {
    requests: count('requests'),
    prompt_tokens: count('prompt_tokens'),
    input_tokens: count('input_tokens'),
    completion_tokens: count('completion_tokens'),
    output_tokens: count('output_tokens'),
    total_tokens: count('total_tokens'),
    cache_read_input_tokens: count('cache_read_input_tokens'),
    cache_creation_input_tokens: count('cache_creation_input_tokens'),
  }
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
