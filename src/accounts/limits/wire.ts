import { z } from 'zod'
import { SettingsVersion } from '../../wire/settings-version-wire.ts'

/** Sums of them stay exact. */
const AMOUNT_MAX = 2 ** 48

function amount(description: string) {
  return z.int().min(1).max(AMOUNT_MAX).nullish().meta({ description })
}

/** Of a key; what is absent or null is not limited. */
export const KeyLimits = z.strictObject({
  requests_per_minute: amount('Requests to any endpoint'),
  tokens_per_minute: amount('Tokens of prompts and answers'),
  running_requests: amount('Completions at a time'),
  training_jobs: amount('Training jobs that run or wait'),
  evaluations: amount('Evaluations that run or wait on the server'),
  body_bytes: amount('Of one request; uploads of files and training data are not counted'),
  query_seconds: amount('Of one query of the trace database'),
  query_rows: amount('Rows that one query looks through, as estimated when it begins'),
})
export type KeyLimits = z.output<typeof KeyLimits>

/** Of an entity, with all of its keys and projects. */
export const EntityLimits = KeyLimits.extend({
  storage_bytes: amount(
    'Payloads of calls, objects, tables, files, artifacts, checkpoints, merged models and uploaded training data',
  ),
})
export type EntityLimits = z.output<typeof EntityLimits>

export const EntityPath = z.object({ entity: z.string() })
export const LimitedKeyPath = z.object({ key_id: z.string() })

export const EntityLimitsRes = z
  .object({
    entity: z.string(),
    limits: EntityLimits,
    version: SettingsVersion,
    storage_bytes_used: z
      .int()
      .nullable()
      .meta({ description: 'Measured some minutes ago, with what has arrived since; null without a limit' }),
  })
  .meta({ id: 'EntityLimits' })
export type EntityLimitsRes = z.input<typeof EntityLimitsRes>

export const KeyLimitsRes = z
  .object({
    key_id: z.string(),
    entity: z.string().meta({ description: 'Whose admins may set them' }),
    limits: KeyLimits,
    version: SettingsVersion,
    entity_limits: EntityLimits.meta({ description: 'They hold for all keys of the entity together' }),
  })
  .meta({ id: 'KeyLimits' })
export type KeyLimitsRes = z.input<typeof KeyLimitsRes>
