import { tooLarge } from '../../errors.ts'
import { forEachYielding } from '../../yielding.ts'
import type { ModelUsage } from './wire.ts'

/**
 * What one call used of one model, of all calls that are added up: about 350 characters of JSON each, and as many bytes
 * in memory.
 */
const USAGES_MAX = 250_000

/** Characters of the names of these models: calls name models in any length, and so does every call above them. */
const NAME_CHARS_MAX = 64 * 1024 * 1024

/** Counts the usages that are added up; what it returns throws 413 once they are too many. */
export function createUsageBudget(): (model: string) => void {
  let [usages, chars] = [0, 0]
  return (model) => {
    usages += 1
    chars += model.length
    if (usages > USAGES_MAX || chars > NAME_CHARS_MAX)
      throw tooLarge(
        `These calls and those below them used too many models: ${USAGES_MAX} pairs of a call and a model are added up ` +
          `at once, with ${NAME_CHARS_MAX} characters of names. Ask for fewer calls, or for calls with less below them`,
      )
  }
}

/** A call with what it used itself, by model. */
export interface UsedCall {
  id: string
  parent_id: string | null
  usage: Map<string, ModelUsage>
}

/**
 * Adds to what each call used what all of its descendants among the given calls did, and returns it by call and model.
 * It works from the leaves up without recursion: traces may be deep. Calls that are each other's ancestors, which only
 * a faulty client sends, are left unchanged. `onUsage` is called for each model that is added to a call.
 */
export async function withDescendants(
  calls: readonly UsedCall[],
  onUsage: (model: string) => void,
): Promise<Map<string, Map<string, ModelUsage>>> {
  const byId = new Map(calls.map((call) => [call.id, call]))
  const childrenLeft = new Map<string, number>()
  for (const { parent_id } of byId.values())
    if (parent_id !== null) childrenLeft.set(parent_id, (childrenLeft.get(parent_id) ?? 0) + 1)

  const complete = [...byId.values()].filter(({ id }) => !childrenLeft.has(id))
  // Those that become complete meanwhile are done as well.
  await forEachYielding(complete, ({ parent_id, usage }) => {
    const parent = parent_id === null ? undefined : byId.get(parent_id)
    if (parent === undefined) return
    add(parent.usage, usage, onUsage)
    const left = (childrenLeft.get(parent.id) ?? 0) - 1
    childrenLeft.set(parent.id, left)
    if (left === 0) complete.push(parent)
  })
  return new Map(calls.map(({ id, usage }) => [id, usage]))
}

function add(
  target: Map<string, ModelUsage>,
  source: ReadonlyMap<string, ModelUsage>,
  onUsage: (model: string) => void,
): void {
  for (const [model, usage] of source) {
    const known = target.get(model)
    if (known === undefined) onUsage(model)
    target.set(model, known === undefined ? usage : sumOf(known, usage))
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
