import { type Route, route } from '../../http/route.ts'
import type { Keys } from './service.ts'
import * as wire from './wire.ts'

export function keysRoutes(keys: Keys): Route[] {
  return [
    route({
      method: 'POST',
      path: '/v1/accounts/keys',
      operationId: 'create_key',
      summary: 'Make an API key, which is shown once',
      family: 'training',
      access: 'any-key',
      body: wire.KeyCreateReq,
      reply: 'json',
      response: wire.KeyCreateRes,
      refusals: [404, 409],
      handle: keys.create,
    }),
    route({
      method: 'GET',
      path: '/v1/accounts/keys',
      operationId: 'list_keys',
      summary: 'List API keys',
      family: 'training',
      access: 'any-key',
      query: wire.KeysQuery,
      reply: 'json',
      response: wire.KeysRes,
      refusals: [404],
      handle: keys.list,
    }),
    route({
      method: 'DELETE',
      path: '/v1/accounts/keys/{key_id}',
      operationId: 'revoke_key',
      summary: 'Revoke an API key, at once',
      family: 'training',
      access: 'any-key',
      pathParams: wire.KeyPath,
      reply: 'json',
      response: wire.KeyRevokeRes,
      handle: keys.revoke,
    }),
  ]
}
