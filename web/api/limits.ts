import { queryOptions } from '@tanstack/react-query'
import type { EntityLimits, EntityLimitsRes } from '../../src/accounts/limits/wire.ts'
import type { BudgetState, BudgetsReq, BudgetsRes } from '../../src/inference/budgets/wire.ts'
import { teamPath } from './accounts.ts'
import { askJson } from './client.ts'

export type { BudgetState, BudgetsRes, EntityLimits, EntityLimitsRes }
export type Budget = BudgetsReq['data'][number]

/** What a team may use. */
export function limitsQuery(entity: string) {
  return queryOptions({
    queryKey: ['accounts', 'limits', entity],
    queryFn: ({ signal }) => askJson<EntityLimitsRes>(teamPath(entity, 'limits'), { signal }),
  })
}

/** @param version of the limits that these replace */
export function setLimits(entity: string, body: EntityLimits, version: string): Promise<EntityLimitsRes> {
  return askJson(teamPath(entity, `limits?if_version=${version}`), { method: 'PUT', body })
}

/** What is spent grows with every answer of a model. */
const BUDGETS_MS = 15_000

/** What a team may spend in this month, and what of it is spent. */
export function budgetsQuery(entity: string) {
  return queryOptions({
    queryKey: ['accounts', 'budgets', entity],
    refetchInterval: BUDGETS_MS,
    queryFn: ({ signal }) => askJson<BudgetsRes>(teamPath(entity, 'budgets'), { signal }),
  })
}

/** Puts budgets in the place of those that the team has. @param version of those */
export function setBudgets(entity: string, data: Budget[], version: string): Promise<BudgetsRes> {
  return askJson(teamPath(entity, `budgets?if_version=${version}`), { method: 'PUT', body: { data } })
}
