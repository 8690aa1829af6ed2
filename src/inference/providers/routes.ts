import * as access from '../../http/access.ts'
import { type Route, route } from '../../http/route.ts'
import type { ProviderRegistry } from './service.ts'
import * as wire from './wire.ts'

export function providersRoutes(providers: ProviderRegistry): Route[] {
  return [
    route({
      method: 'GET',
      path: '/v1/accounts/teams/{entity}/providers',
      operationId: 'list_providers',
      summary: 'List the services that a team may ask for completions',
      family: 'training',
      access: access.entity('read'),
      pathParams: wire.ProvidersPath,
      reply: 'json',
      response: wire.ProvidersRes,
      handle: providers.list,
    }),
    route({
      method: 'PUT',
      path: '/v1/accounts/teams/{entity}/providers/{name}',
      operationId: 'set_provider',
      summary: 'Add a service that a team may ask for completions, with its key, or change one',
      family: 'training',
      access: access.entity('manage'),
      pathParams: wire.ProviderPath,
      body: wire.ProviderReq,
      reply: 'json',
      response: wire.Provider,
      refusals: [409],
      handle: providers.put,
    }),
    route({
      method: 'DELETE',
      path: '/v1/accounts/teams/{entity}/providers/{name}',
      operationId: 'remove_provider',
      summary: 'Remove a service with its key',
      family: 'training',
      access: access.entity('manage'),
      pathParams: wire.ProviderPath,
      reply: 'json',
      response: wire.ProviderRemoveRes,
      handle: providers.remove,
    }),
  ]
}
