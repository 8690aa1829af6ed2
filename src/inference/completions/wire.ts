import { z } from 'zod'
import { Prompt } from '../prompt-wire.ts'
import { Policy, samplingFields } from '../sampling-wire.ts'

/** Wire: as in chat completions, absent and null mean the same, and unknown fields are ignored. */
export const CompletionReq = z
  .object({
    prompt: Prompt.nullish(),
    ...samplingFields,
    logprobs: z.int().nullish(),
    max_tokens: z.int().nullish(),
    suffix: z.string().nullish(),
  })
  .meta({ id: 'CompletionRequest' })
export type CompletionReq = z.output<typeof CompletionReq>

/** The engine's reply, passed on; a stream of `data:` lines when `stream` is true. */
export const CompletionRes = z
  .looseObject({
    id: z.string(),
    object: z.literal('text_completion'),
    created: z.int(),
    model: z.string(),
    choices: z.array(z.looseObject({ index: z.int(), text: z.string(), policy: Policy })),
    usage: z.looseObject({
      prompt_tokens: z.int(),
      total_tokens: z.int(),
      completion_tokens: z.int().nullish(),
    }),
  })
  .meta({ id: 'Completion' })
