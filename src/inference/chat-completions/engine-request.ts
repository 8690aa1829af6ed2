import { invalidRequest } from '../../errors.ts'
import {
  type EngineAbilities,
  type EngineModel,
  engineFields,
  withoutNulls,
} from '../gateway/engine-fields.ts'
import type { ChatCompletionReq, ChatMessage } from './wire.ts'

/**
 * The request as the engine takes it.
 * @throws 400 for what the engine would ignore in silence.
 */
export function engineRequest(
  req: ChatCompletionReq,
  engine: EngineModel,
  abilities: EngineAbilities,
): Record<string, unknown> {
  if (req.continue_final_message === true && req.add_generation_prompt === true) {
    throw invalidRequest(
      'continue_final_message and add_generation_prompt cannot both be true',
      'continue_final_message',
    )
  }
  return withoutNulls({
    ...engineFields(req, engine, abilities),
    // Wire: the engine's default would contradict a request that only asks to continue.
    add_generation_prompt: req.add_generation_prompt ?? (req.continue_final_message === true ? false : null),
    // Rollouts are trained on by token id, which text cannot be turned back into.
    return_tokens_as_token_ids: req.return_tokens_as_token_ids ?? (engine.isTrained && req.logprobs === true),
    messages: req.messages.map(withoutNullMembers),
    documents: req.documents?.map(withTextValues),
  })
}

/** Wire: the engine knows null as the content of an assistant alone. */
function withoutNullMembers({ content, ...message }: ChatMessage): Record<string, unknown> {
  const isKept = content != null || (content === null && message.role === 'assistant')
  return { ...withoutNulls(message), ...(isKept && { content }) }
}

/** Wire: the engine takes documents of texts only. */
function withTextValues(document: Record<string, unknown>): Record<string, string> {
  const entries = Object.entries(document).map(([key, value]) => [
    key,
    typeof value === 'string' ? value : JSON.stringify(value),
  ])
  return Object.fromEntries(entries)
}
