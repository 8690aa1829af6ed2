import * as access from '../../http/access.ts'
import { type Route, route } from '../../http/route.ts'
import type { Budgets } from './service.ts'
import { BudgetPath, BudgetRes } from './wire.ts'

export function budgetsRoutes(budgets: Budgets): Route[] {
  return [
    route({
      method: 'GET',
      path: '/v1/accounts/teams/{entity}/budget',
      operationId: 'read_team_budget',
      summary: 'The budget of a team for this month, and what of it is spent',
      family: 'training',
      access: { ...access.entity('read'), orOperator: true },
      pathParams: BudgetPath,
      reply: 'json',
      response: BudgetRes,
      handle: budgets.read,
    }),
  ]
}
