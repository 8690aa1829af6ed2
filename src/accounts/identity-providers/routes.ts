import * as access from '../../http/access.ts'
import { BytesBody, type Route, route } from '../../http/route.ts'
import type { IdentityProviders } from './service.ts'
import type { TokenExchange } from './token-exchange.ts'
import * as wire from './wire.ts'

/** Identity tokens have some kilobytes. */
const TOKEN_BYTES_MAX = 64 * 1024

export function identityProvidersRoutes(providers: IdentityProviders, tokens: TokenExchange): Route[] {
  return [
    route({
      method: 'GET',
      path: '/v1/accounts/teams/{entity}/identity-providers',
      operationId: 'read_identity_providers',
      summary: 'The issuers whose identity tokens programs of a team may show instead of keys',
      family: 'training',
      access: { ...access.entity('manage'), orOperator: true },
      pathParams: wire.EntityPath,
      reply: 'json',
      response: wire.IdentityProvidersRes,
      handle: providers.read,
    }),
    route({
      method: 'PUT',
      path: '/v1/accounts/teams/{entity}/identity-providers',
      operationId: 'put_identity_providers',
      summary: 'Set the issuers whose identity tokens programs of a team may show instead of keys',
      family: 'training',
      access: { ...access.entity('manage'), orOperator: true },
      pathParams: wire.EntityPath,
      body: wire.IdentityProvidersReq,
      reply: 'json',
      response: wire.IdentityProvidersRes,
      refusals: [409],
      handle: providers.put,
    }),
    route({
      method: 'POST',
      path: '/oidc/token',
      operationId: 'exchange_identity_token',
      summary: 'Exchange an identity token for an access token, as clients do with WANDB_IDENTITY_TOKEN_FILE',
      family: 'training',
      access: 'open',
      body: BytesBody,
      bodyKind: 'bytes',
      bodyBytesMax: TOKEN_BYTES_MAX,
      bodyTypes: ['application/x-www-form-urlencoded'],
      streamedBody: wire.TokenReq,
      reply: 'json',
      response: wire.TokenRes,
      refusals: [409],
      handle: tokens.exchange,
    }),
  ]
}
