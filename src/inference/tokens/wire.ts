import { z } from 'zod'
import { listOf } from '../../wire/bounded-wire.ts'
import { asWritten } from '../as-written-wire.ts'
import { MESSAGES_MAX } from '../chat-completions/wire.ts'
import { TokenIds } from '../prompt-wire.ts'

/** A text, or a conversation as the model's template writes it. */
export const TokenizeReq = z
  .object({
    model: z.string().nullish(),
    prompt: z.string().nullish(),
    messages: listOf(asWritten(z.looseObject({ role: z.string() })), MESSAGES_MAX).nullish(),
    tools: listOf(asWritten(z.looseObject({})), MESSAGES_MAX).nullish(),
    add_special_tokens: z.boolean().nullish(),
    add_generation_prompt: z.boolean().nullish(),
    continue_final_message: z.boolean().nullish(),
    chat_template: z.string().nullish(),
    chat_template_kwargs: asWritten(z.looseObject({})).nullish(),
    return_token_strs: z.boolean().nullish(),
  })
  .refine(({ prompt, messages }) => (prompt == null) !== (messages == null), {
    error: 'Either prompt or messages is required, and not both',
  })
  .meta({ id: 'TokenizeRequest' })
export type TokenizeReq = z.output<typeof TokenizeReq>

export const TokenizeRes = z
  .looseObject({
    count: z.int(),
    max_model_len: z.int(),
    tokens: z.array(z.int()),
    token_strs: z.array(z.string()).nullish(),
  })
  .meta({ id: 'Tokenized' })

export const DetokenizeReq = z
  .object({ model: z.string().nullish(), tokens: TokenIds })
  .meta({ id: 'DetokenizeRequest' })
export type DetokenizeReq = z.output<typeof DetokenizeReq>

export const DetokenizeRes = z.looseObject({ prompt: z.string() }).meta({ id: 'Detokenized' })
