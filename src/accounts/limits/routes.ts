import * as access from '../../http/access.ts'
import { type Route, route } from '../../http/route.ts'
import type { StoredLimits } from './service.ts'
import * as wire from './wire.ts'

export function limitsRoutes(limits: StoredLimits): Route[] {
  return [
    route({
      method: 'GET',
      path: '/v1/accounts/teams/{entity}/limits',
      operationId: 'read_team_limits',
      summary: 'What a team may use',
      family: 'training',
      access: { ...access.entity('read'), orOperator: true },
      pathParams: wire.EntityPath,
      reply: 'json',
      response: wire.Limits,
      handle: limits.ofEntity,
    }),
    route({
      method: 'PUT',
      path: '/v1/accounts/teams/{entity}/limits',
      operationId: 'set_team_limits',
      summary: 'Set what a team may use',
      family: 'training',
      access: 'operator',
      pathParams: wire.EntityPath,
      body: wire.LimitsReq,
      reply: 'json',
      response: wire.Limits,
      handle: limits.setOfEntity,
    }),
    route({
      method: 'GET',
      path: '/v1/accounts/keys/{key_id}/limits',
      operationId: 'read_key_limits',
      summary: 'What a key may use, beside the limits of the team',
      family: 'training',
      access: 'any-key',
      pathParams: wire.KeyLimitsPath,
      reply: 'json',
      response: wire.Limits,
      handle: limits.ofKey,
    }),
    route({
      method: 'PUT',
      path: '/v1/accounts/keys/{key_id}/limits',
      operationId: 'set_key_limits',
      summary: 'Set what a key may use',
      family: 'training',
      access: 'any-key',
      pathParams: wire.KeyLimitsPath,
      body: wire.LimitsReq,
      reply: 'json',
      response: wire.Limits,
      handle: limits.setOfKey,
    }),
  ]
}
