import { z } from 'zod'

/** Names become parts of `entity/project/name:stepN` and of `name@N`. */
const NAME_PATTERN = /^[^/:@\s][^/:@\p{Cc}]*$/u
const Name = z.string().max(128).regex(NAME_PATTERN, 'Names hold no "/", ":", "@" or control characters')

/** Wire: clients send `entity: null` for the entity of their key. */
export const ModelCreateReq = z.object({
  entity: Name.nullish(),
  project: Name,
  name: Name,
  base_model: z.string().min(1).max(512),
  return_existing: z.boolean().nullish(),
})
export type ModelCreateReq = z.output<typeof ModelCreateReq>

/** Wire: `entity` is never null, because it becomes part of the name under which the model is called. */
export const ModelRes = z
  .object({
    id: z.uuid(),
    entity: z.string(),
    project: z.string(),
    name: z.string(),
    base_model: z.string(),
    run_id: z.string(),
  })
  .meta({ id: 'Model' })

export const ModelDeleteRes = z
  .object({ model_id: z.string(), deleted_checkpoints: z.int(), deleted_run: z.boolean() })
  .meta({ id: 'ModelDeleted' })
