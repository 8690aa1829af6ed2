import { z } from 'zod'
import { PageQuery, pageOf } from '../../wire/page-wire.ts'
import { isWellFormed } from '../../wire/well-formed-wire.ts'
import { HALF_CHARACTER, Lora } from '../base-models/lora-wire.ts'

/** Names become parts of `entity/project/name:stepN` and of `name@N`. */
const NAME_PATTERN = /^[^/:@\s][^/:@]*$/u
const NAME_RULE = 'Names hold no "/", ":", "@" or control characters'
const Name = z
  .string()
  .max(128)
  .regex(NAME_PATTERN, NAME_RULE)
  .refine((name) => !/\p{Cc}/u.test(name), NAME_RULE)
  .refine(isWellFormed, HALF_CHARACTER)

/** Wire: clients send `entity: null` for the entity of their key. `lora` and `best_…` are ours. */
export const ModelCreateReq = z.object({
  entity: Name.nullish(),
  project: Name,
  name: Name,
  base_model: z
    .string()
    .min(1)
    .max(512)
    .refine((name) => !name.includes('\0'), 'No file and no model has a NUL in its name'),
  return_existing: z.boolean().nullish(),
  lora: z
    .object({
      rank: Lora.shape.rank.nullish(),
      alpha: Lora.shape.alpha.nullish(),
      target_modules: Lora.shape.target_modules.nullish(),
      seed: Lora.shape.seed.nullish(),
    })
    .nullish(),
  best_metric: z.string().min(1).max(256).nullish(),
  best_mode: z.enum(['max', 'min']).nullish(),
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
    lora: Lora,
    best_metric: z.string(),
    best_mode: z.enum(['max', 'min']),
    created_at: z.string(),
  })
  .meta({ id: 'Model' })

export const ModelsListQuery = PageQuery.extend({
  entity: z.string().optional(),
  project: z.string().optional(),
})
export type ModelsListQuery = z.output<typeof ModelsListQuery>

export const ModelsListRes = pageOf(ModelRes).meta({ id: 'ModelPage' })

export const ModelDeleteRes = z
  .object({ model_id: z.string(), deleted_checkpoints: z.int(), deleted_run: z.boolean() })
  .meta({ id: 'ModelDeleted' })
