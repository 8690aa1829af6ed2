import { z } from 'zod'
import { pageOf, StrictPageQuery } from '../../wire/page-wire.ts'

/** Ten years: a key that is to last longer has no end. */
export const KEY_DAYS_MAX = 3650

export const KeyScope = z.enum(['all', 'read', 'ingest', 'inference'])

export const ApiKey = z
  .object({
    id: z.string(),
    prefix: z.string().meta({ description: 'The part of the key that is shown' }),
    name: z.string(),
    user: z.string(),
    scope: KeyScope,
    project_id: z.string().nullable(),
    created_at: z.string(),
    expires_at: z.string().nullable(),
    last_used_at: z.string().nullable(),
  })
  .meta({ id: 'ApiKey' })
export type ApiKey = z.input<typeof ApiKey>

export const KeyCreateReq = z.strictObject({
  name: z.string().min(1).max(128),
  scope: KeyScope.default('all'),
  project_id: z.string().nullish().meta({ description: 'entity/project: the only one that the key may use' }),
  expires_in_days: z
    .number()
    .positive()
    .max(KEY_DAYS_MAX)
    .nullish()
    .meta({ description: 'At most until the key ends that the request is sent with' }),
  user: z
    .string()
    .nullish()
    .meta({ description: 'A service account of a team that you manage; by default you' }),
})
export type KeyCreateReq = z.output<typeof KeyCreateReq>

export const KeyCreateRes = ApiKey.extend({
  key: z.string().meta({ description: 'The whole key, which is not shown again' }),
}).meta({ id: 'NewApiKey' })
export type KeyCreateRes = z.input<typeof KeyCreateRes>

export const KeysQuery = StrictPageQuery.extend({ user: z.string().optional() })
export type KeysQuery = z.output<typeof KeysQuery>
export const KeysRes = pageOf(ApiKey).meta({ id: 'ApiKeyPage' })
export type KeysRes = z.input<typeof KeysRes>

export const KeyPath = z.object({ key_id: z.string() })
export type KeyPath = z.output<typeof KeyPath>
export const KeyRevokeRes = z.object({ id: z.string(), revoked: z.literal(true) })
export type KeyRevokeRes = z.input<typeof KeyRevokeRes>
