import { z } from 'zod'

const limits = {
  requests_per_minute: z.int().min(1).max(1_000_000).nullable().meta({ description: 'null: no limit' }),
  tokens_per_month: z.int().min(0).nullable().meta({
    description:
      'Of prompts and answers of models of this server, in a calendar month of UTC; null: no limit',
  }),
  usd_per_month: z
    .number()
    .min(0)
    .nullable()
    .meta({ description: 'What these tokens cost, where prices are known; null: no limit' }),
  warn_at: z
    .number()
    .min(0)
    .max(1)
    .meta({ description: 'The share of a budget from which replies carry a warning' }),
}

export const LimitsReq = z.object({
  requests_per_minute: limits.requests_per_minute.default(null),
  tokens_per_month: limits.tokens_per_month.default(null),
  usd_per_month: limits.usd_per_month.default(null),
  warn_at: limits.warn_at.default(0.8),
})
export type LimitsReq = z.output<typeof LimitsReq>

export const Limits = z
  .object({ ...limits, updated_by: z.string().nullable(), updated_at: z.string().nullable() })
  .meta({ id: 'Limits' })
export type Limits = z.input<typeof Limits>

export const EntityPath = z.object({ entity: z.string() })
export type EntityPath = z.output<typeof EntityPath>
export const KeyLimitsPath = z.object({ key_id: z.string() })
export type KeyLimitsPath = z.output<typeof KeyLimitsPath>
