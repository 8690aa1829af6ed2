import type { ModelUsage } from './wire.ts'

/** A call with what it used itself, by model. */
export interface UsedCall {
  id: string
  parent_id: string | null
  usage: ReadonlyMap<string, ModelUsage>
}

/**
 * What each call used, with all of its descendants among the given calls, by call and model. It works from the leaves
 * up without recursion: traces may be deep. Calls that are each other's ancestors, which only a faulty client sends,
 * are left unchanged.
 */
export function withDescendants(calls: readonly UsedCall[]): Map<string, Map<string, ModelUsage>> {
  const byId = new Map(calls.map((call) => [call.id, call]))
  const totals = new Map(calls.map((call) => [call.id, new Map(call.usage)]))
  const childrenLeft = new Map<string, number>()
  for (const { parent_id } of byId.values())
    if (parent_id !== null) childrenLeft.set(parent_id, (childrenLeft.get(parent_id) ?? 0) + 1)

  const complete = [...byId.values()].filter(({ id }) => !childrenLeft.has(id))
  for (const { id, parent_id } of complete) {
    const parent = parent_id === null ? undefined : byId.get(parent_id)
    if (parent === undefined) continue
    add(totals.get(parent.id), totals.get(id))
    const left = (childrenLeft.get(parent.id) ?? 0) - 1
    childrenLeft.set(parent.id, left)
    if (left === 0) complete.push(parent)
  }
  return totals
}

function add(
  target: Map<string, ModelUsage> | undefined,
  source: ReadonlyMap<string, ModelUsage> | undefined,
): void {
  for (const [model, usage] of source ?? []) {
    const known = target?.get(model)
    target?.set(model, known === undefined ? usage : sumOf(known, usage))
  }
}

function sumOf(a: ModelUsage, b: ModelUsage): ModelUsage {
  return {
    requests: a.requests + b.requests,
    prompt_tokens: a.prompt_tokens + b.prompt_tokens,
    completion_tokens: a.completion_tokens + b.completion_tokens,
    total_tokens: a.total_tokens + b.total_tokens,
    cache_read_input_tokens: a.cache_read_input_tokens + b.cache_read_input_tokens,
    cache_creation_input_tokens: a.cache_creation_input_tokens + b.cache_creation_input_tokens,
    prompt_tokens_total_cost: plus(a.prompt_tokens_total_cost, b.prompt_tokens_total_cost),
    completion_tokens_total_cost: plus(a.completion_tokens_total_cost, b.completion_tokens_total_cost),
    cache_read_input_tokens_total_cost: plus(
      a.cache_read_input_tokens_total_cost,
      b.cache_read_input_tokens_total_cost,
    ),
    cache_creation_input_tokens_total_cost: plus(
      a.cache_creation_input_tokens_total_cost,
      b.cache_creation_input_tokens_total_cost,
    ),
  }
}

function plus(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b
}
