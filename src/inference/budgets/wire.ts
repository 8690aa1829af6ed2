import { z } from 'zod'
import { type IfVersion, SettingsVersion } from '../../wire/settings-version-wire.ts'

/** Budgets of one entity: a few for each of its projects and keys. */
const BUDGETS_MAX = 1000

const NAME_CHARS_MAX = 128

/** The share from which on callers are warned, where a budget names none. */
const WARN_AT = 0.8

const Unit = z.enum(['tokens', 'usd'])

const OF = {
  project: z
    .string()
    .min(1)
    .max(NAME_CHARS_MAX)
    .nullish()
    .meta({ description: 'The name of a project of the team' }),
  key: z.string().min(1).nullish().meta({ description: 'The id of a key of the team' }),
  unit: Unit.meta({
    description: 'Tokens of prompts and answers, or what they cost where a price is known',
  }),
  amount: z.number().positive().max(1e15).meta({ description: 'For each calendar month, in UTC' }),
}

const Budget = z.strictObject({
  ...OF,
  warn_at: z.number().positive().max(1).default(WARN_AT).meta({ description: 'A share of the amount' }),
})

export const EntityPath = z.object({ entity: z.string() })
export type EntityPath = z.output<typeof EntityPath>

export const BudgetsReq = z.strictObject({
  data: z.array(Budget).max(BUDGETS_MAX).meta({
    description:
      'Each of one project, of one key, or of neither: then it is of the whole team, and only operators may change it',
  }),
})
export type BudgetsReq = z.output<typeof BudgetsReq> & IfVersion

const BudgetState = z
  .object({
    ...OF,
    id: z.string(),
    warn_at: z.number(),
    spent: z.number().meta({ description: 'In this month' }),
    remaining: z.number().meta({ description: 'Not below zero' }),
    state: z.enum(['within', 'warning', 'spent']),
    message: z
      .string()
      .nullable()
      .meta({ description: 'What is to be known of it; null while it is within' }),
  })
  .meta({ id: 'BudgetState' })
export type BudgetState = z.input<typeof BudgetState>

export const BudgetsRes = z
  .object({
    entity: z.string(),
    month: z.string().meta({ description: 'Such as 2026-11' }),
    resets_at: z.string().meta({ description: 'When the next month begins' }),
    data: z.array(BudgetState),
    version: SettingsVersion,
  })
  .meta({ id: 'Budgets' })
export type BudgetsRes = z.input<typeof BudgetsRes>
