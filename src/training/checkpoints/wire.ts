import { z } from 'zod'
import { PageQuery, pageOf } from '../page-wire.ts'

export const Checkpoint = z
  .object({
    id: z.uuid(),
    step: z.int(),
    metrics: z.record(z.string(), z.number()),
  })
  .meta({ id: 'Checkpoint' })

export const ModelPath = z.object({ model_id: z.string() })

export const CheckpointsListQuery = PageQuery.extend({ order: z.enum(['asc', 'desc']).default('asc') })
export type CheckpointsListQuery = z.output<typeof CheckpointsListQuery>

export const CheckpointsListRes = pageOf(Checkpoint).meta({ id: 'CheckpointPage' })

/** Far above what a model has; bounds one statement. */
const STEPS_MAX = 10_000

/** Wire: a DELETE with a JSON body. */
export const CheckpointsDeleteReq = z.object({ steps: z.array(z.int()).max(STEPS_MAX) })
export type CheckpointsDeleteReq = z.output<typeof CheckpointsDeleteReq>

export const CheckpointsDeleteRes = z
  .object({ deleted_count: z.int(), not_found_steps: z.array(z.int()) })
  .meta({ id: 'CheckpointsDeleted' })
