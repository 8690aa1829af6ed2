import { z } from 'zod'

/** A name is a part of a model's, so it has no slash and no colon. */
const ProviderName = z
  .string()
  .max(64)
  .regex(/^[\w.-]+$/, { error: 'Names have letters, digits, "_", "." and "-" only' })

export const ProvidersPath = z.object({ entity: z.string() })
export type ProvidersPath = z.output<typeof ProvidersPath>
export const ProviderPath = z.object({ entity: z.string(), name: ProviderName })
export type ProviderPath = z.output<typeof ProviderPath>

export const ProviderReq = z.strictObject({
  base_url: z
    .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
    .max(2048)
    .meta({
      description: 'Without /chat/completions; a public address, unless the operator allows the host',
    }),
  api_key: z.string().min(1).max(4096).nullish().meta({
    description: 'Stored encrypted and never shown; absent: the one that is stored stays; null: none',
  }),
})
export type ProviderReq = z.output<typeof ProviderReq>

export const Provider = z
  .object({
    name: z.string(),
    base_url: z.string(),
    has_key: z.boolean(),
    source: z
      .enum(['team', 'server'])
      .meta({ description: 'server: configured by the operator, for all teams' }),
    updated_at: z.string().nullable(),
    updated_by: z.string().nullable(),
  })
  .meta({ id: 'Provider' })
export type Provider = z.input<typeof Provider>

export const ProvidersRes = z.object({ data: z.array(Provider) }).meta({ id: 'Providers' })
export type ProvidersRes = z.input<typeof ProvidersRes>

export const ProviderRemoveRes = z.object({ removed: z.boolean() })
export type ProviderRemoveRes = z.input<typeof ProviderRemoveRes>
