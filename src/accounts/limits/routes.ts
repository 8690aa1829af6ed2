import * as access from '../../http/access.ts'
import { type Route, route } from '../../http/route.ts'
import { IfVersion } from '../../wire/settings-version-wire.ts'
import type { UsageLimits } from './service.ts'
import * as wire from './wire.ts'

export function limitsRoutes(limits: UsageLimits): Route[] {
  return [
    route({
      method: 'GET',
      path: '/v1/accounts/teams/{entity}/limits',
      operationId: 'get_entity_limits',
      summary: 'What a team or a user may use, with all keys and projects',
      family: 'training',
      access: { ...access.entity('read'), orOperator: true },
      pathParams: wire.EntityPath,
      reply: 'json',
      response: wire.EntityLimitsRes,
      handle: limits.ofEntity,
    }),
    route({
      method: 'PUT',
      path: '/v1/accounts/teams/{entity}/limits',
      operationId: 'set_entity_limits',
      summary: 'Set what a team or a user may use, from the next request on',
      family: 'training',
      access: 'operator',
      pathParams: wire.EntityPath,
      query: IfVersion,
      body: wire.EntityLimits,
      refusals: [409],
      reply: 'json',
      response: wire.EntityLimitsRes,
      handle: limits.setOfEntity,
    }),
    route({
      method: 'GET',
      path: '/v1/accounts/keys/{key_id}/limits',
      operationId: 'get_key_limits',
      summary: 'What an API key may use',
      family: 'training',
      access: 'any-key',
      pathParams: wire.LimitedKeyPath,
      reply: 'json',
      response: wire.KeyLimitsRes,
      handle: limits.ofKey,
    }),
    route({
      method: 'PUT',
      path: '/v1/accounts/keys/{key_id}/limits',
      operationId: 'set_key_limits',
      summary: 'Set what an API key may use within the limits of its team, from the next request on',
      family: 'training',
      access: 'any-key',
      pathParams: wire.LimitedKeyPath,
      query: IfVersion,
      body: wire.KeyLimits,
      refusals: [409],
      reply: 'json',
      response: wire.KeyLimitsRes,
      handle: limits.setOfKey,
    }),
  ]
}
