import { type Route, route } from '../../http/route.ts'
import type { Oidc } from './service.ts'
import * as wire from './wire.ts'

export function oidcRoutes(oidc: Oidc): Route[] {
  return [
    route({
      method: 'GET',
      path: '/v1/accounts/oidc/start',
      operationId: 'start_single_sign_on',
      summary: 'Send a browser to the sign-in provider',
      family: 'training',
      access: 'open',
      query: wire.StartQuery,
      reply: 'raw',
      replyTypes: ['text/plain'],
      response: wire.Redirect,
      refusals: [409],
      handle: oidc.start,
    }),
    route({
      method: 'GET',
      path: '/v1/accounts/oidc/callback',
      operationId: 'finish_single_sign_on',
      summary: 'Sign in the person whom the sign-in provider names, to whose address browsers come back',
      family: 'training',
      access: 'open',
      query: wire.CallbackQuery,
      reply: 'raw',
      replyTypes: ['text/plain'],
      response: wire.Redirect,
      refusals: [409],
      handle: oidc.callback,
    }),
  ]
}
