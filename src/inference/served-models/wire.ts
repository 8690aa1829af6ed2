import { z } from 'zod'

export const ServedModelPath = z.object({ model: z.string() })

export const ServedModelRes = z
  .object({
    id: z.string(),
    object: z.literal('model'),
    created: z.int(),
    owned_by: z.string(),
    root: z.string(),
    parent: z.string().nullable(),
  })
  .meta({ id: 'ServedModel' })
export type ServedModel = z.input<typeof ServedModelRes>

export const ServedModelsRes = z
  .object({ object: z.literal('list'), data: z.array(ServedModelRes) })
  .meta({ id: 'ServedModels' })
