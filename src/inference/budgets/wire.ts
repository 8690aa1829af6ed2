import { z } from 'zod'

export const BudgetPath = z.object({ entity: z.string() })

export const BudgetRes = z
  .object({
    entity: z.string(),
    from: z.string(),
    before: z.string(),
    tokens_per_month: z.int().nullable(),
    tokens_spent: z.int(),
    usd_per_month: z.number().nullable(),
    usd_spent: z.number().meta({ description: 'Where prices are known' }),
    is_low: z.boolean(),
    is_spent: z.boolean(),
  })
  .meta({ id: 'Budget' })
export type BudgetRes = z.input<typeof BudgetRes>
