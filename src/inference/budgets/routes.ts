import * as access from '../../http/access.ts'
import { type Route, route } from '../../http/route.ts'
import { IfVersion } from '../../wire/settings-version-wire.ts'
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
      query: IfVersion,
      body: wire.BudgetsReq,
      refusals: [409],
      reply: 'json',
      response: wire.BudgetsRes,
      handle: budgets.replace,
    }),
  ]
}
