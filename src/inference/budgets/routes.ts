import * as access from '../../http/access.ts'
import { type Route, route } from '../../http/route.ts'
import type { Budgets } from './service.ts'
import * as wire from './wire.ts'

export function budgetsRoutes(budgets: Budgets): Route[] {
  return [
    route({
      method: 'GET',
      path: '/v1/accounts/teams/{entity}/budgets',
      operationId: 'list_budgets',
      summary: 'What projects and keys of a team may spend on models in a month, and what is left',
      family: 'training',
      access: { ...access.entity('read'), orOperator: true },
      pathParams: wire.EntityPath,
      reply: 'json',
      response: wire.BudgetsRes,
      handle: budgets.list,
    }),
    route({
      method: 'PUT',
      path: '/v1/accounts/teams/{entity}/budgets',
      operationId: 'replace_budgets',
      summary: 'Set what projects and keys of a team may spend on models in a month',
      family: 'training',
      access: { ...access.entity('manage'), orOperator: true },
      pathParams: wire.EntityPath,
      body: wire.BudgetsReq,
      reply: 'json',
      response: wire.BudgetsRes,
      handle: budgets.replace,
    }),
  ]
}
