import { invalidRequest } from '../../errors.ts'
import type { ChatCompletionReq } from './wire.ts'

/** The largest double that prints as a 64-bit integer. */
const SEED_MAX = 2 ** 63 - 1024

/**
 * The request as the engine takes it.
 * @throws 400 for what the engine would ignore in silence.
 */
export function engineRequest(
  req: ChatCompletionReq,
  engine: { model: string; isTrained: boolean },
): Record<string, unknown> {
  if (req.logits_processors != null)
    throw invalidRequest('logits_processors are not supported', 'logits_processors')
  if (req.priority != null && req.priority !== 0) {
    throw invalidRequest(
      'priority must be 0: requests are served in the order in which they come',
      'priority',
    )
  }
  if (req.continue_final_message === true && req.add_generation_prompt === true) {
    throw invalidRequest(
      'continue_final_message and add_generation_prompt cannot both be true',
      'continue_final_message',
    )
  }
  const { engine_xargs, priority: _, user: __, ...known } = req
  const filled: Record<string, unknown> = {
    ...known,
    model: engine.model,
    vllm_xargs: req.vllm_xargs ?? engine_xargs,
    // Wire: the engine's default would contradict a request that only asks to continue.
    add_generation_prompt: req.add_generation_prompt ?? (req.continue_final_message === true ? false : null),
    // Wire: the documented bounds are rounded and lie just outside 64 bits.
    seed: req.seed == null ? null : Math.min(Math.max(req.seed, -SEED_MAX), SEED_MAX),
    // Rollouts are trained on by token id, which text cannot be turned back into.
    return_tokens_as_token_ids: req.return_tokens_as_token_ids ?? (engine.isTrained && req.logprobs === true),
    documents: req.documents?.map(withTextValues),
  }
  // Wire: null means absent, but the engine refuses null for some fields.
  return Object.fromEntries(Object.entries(filled).filter(([, value]) => value != null))
}

function withTextValues(document: Record<string, unknown>): Record<string, string> {
  const entries = Object.entries(document).map(([key, value]) => [
    key,
    typeof value === 'string' ? value : JSON.stringify(value),
  ])
  return Object.fromEntries(entries)
}
