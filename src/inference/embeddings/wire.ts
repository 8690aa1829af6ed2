import { z } from 'zod'
import { Prompt } from '../prompt-wire.ts'

export const EmbeddingsReq = z
  .object({
    input: Prompt,
    model: z.string().nullish(),
    encoding_format: z.enum(['float', 'base64']).nullish(),
    dimensions: z.int().nullish(),
    user: z.string().nullish(),
    truncate_prompt_tokens: z.int().nullish(),
  })
  .meta({ id: 'EmbeddingsRequest' })
export type EmbeddingsReq = z.output<typeof EmbeddingsReq>

/** The engine's reply, passed on. */
export const EmbeddingsRes = z
  .looseObject({
    object: z.literal('list'),
    model: z.string(),
    data: z.array(z.looseObject({ index: z.int(), embedding: z.union([z.array(z.number()), z.string()]) })),
    usage: z.looseObject({ prompt_tokens: z.int(), total_tokens: z.int() }),
  })
  .meta({ id: 'Embeddings' })
