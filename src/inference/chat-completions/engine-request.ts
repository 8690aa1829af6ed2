import { z } from 'zod'
import { invalidRequest } from '../../errors.ts'
import { type JsonText, parseLossless, stringify } from '../../json/lossless-json.ts'
import { limitTools } from '../constraints.ts'
import {
  type EngineAbilities,
  type EngineModel,
  engineFields,
  withoutNulls,
} from '../gateway/engine-fields.ts'
import type { ChatCompletionReq, ChatMessage } from './wire.ts'

/**
 * The request as the engine takes it.
 * @throws 400 for what the engine would ignore in silence, or compile for too long.
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
  if (Object.keys(req.mm_processor_kwargs ?? {}).length > 0 && !abilities.mmProcessorKwargs) {
    throw invalidRequest(
      'mm_processor_kwargs are not taken: the operator of this server can allow them with HEDDLE_MM_PROCESSOR_KWARGS=allow',
      'mm_processor_kwargs',
    )
  }
  limitTools(req)
  return withoutNulls({
    ...engineFields(req, engine, abilities),
    // Wire: the engine's default would contradict a request that only asks to continue a message.
    add_generation_prompt: req.add_generation_prompt ?? (req.continue_final_message === true ? false : null),
    ...(isRollout(req, engine) && {
      // Rollouts are trained on by token id, which text cannot be turned back into.
      return_tokens_as_token_ids: req.return_tokens_as_token_ids ?? true,
      return_token_ids: true,
      // Wire: without its reasoning a reply has neither ids nor logprobs; it is left out afterwards.
      include_reasoning: null,
    }),
    messages: req.messages.map(withoutNullMembers),
    documents: req.documents?.map(withTextValues),
  })
}

/** Whether the sample may be trained on: a checkpoint answers, and log-probabilities are requested. */
export function isRollout(
  req: Pick<ChatCompletionReq, 'logprobs'>,
  engine: Pick<EngineModel, 'isTrained'>,
): boolean {
  return engine.isTrained && req.logprobs === true
}

/** Wire: the engine knows null as the content of an assistant alone. */
function withoutNullMembers({ content, ...message }: ChatMessage): Record<string, unknown> {
  const isKept = content != null || (content === null && message.role === 'assistant')
  return { ...withoutNulls(message), ...(isKept && { content }) }
}

/** Wire: the engine takes documents of texts only. */
function withTextValues(document: JsonText): JsonText | Record<string, string> {
  const members = Object.entries(Members.parse(parseLossless(document.text)))
  if (members.every(([, value]) => typeof value === 'string')) return document
  return Object.fromEntries(
    members.map(([key, value]) => [key, typeof value === 'string' ? value : stringify(value)]),
  )
}

const Members = z.record(z.string(), z.unknown())
