import { type Route, route } from '../../http/route.ts'
import type { Me } from './me.ts'
import type { Sessions } from './service.ts'
import * as wire from './wire.ts'

/** What users of a server with accounts decide about themselves. */
export function meRoutes(me: Me): Route[] {
  return [
    route({
      method: 'PUT',
      path: '/v1/accounts/me',
      operationId: 'change_me',
      summary: 'Choose the entity of requests that name none, among those that the caller belongs to',
      family: 'training',
      access: 'any-key',
      body: wire.MeChangeReq,
      reply: 'json',
      response: wire.MeRes,
      handle: me.change,
    }),
  ]
}

export function sessionsRoutes(sessions: Sessions, me: Me): Route[] {
  return [
    route({
      method: 'GET',
      path: '/v1/accounts/me',
      operationId: 'read_me',
      summary: 'Who the caller is, and what the caller belongs to',
      family: 'training',
      access: 'any-key',
      reply: 'json',
      response: wire.MeRes,
      handle: me.read,
    }),
    route({
      method: 'GET',
      path: '/v1/accounts/sign-in-options',
      operationId: 'read_sign_in_options',
      summary: 'How people sign in',
      family: 'training',
      access: 'open',
      reply: 'json',
      response: wire.SignInOptionsRes,
      handle: me.options,
    }),
    route({
      method: 'POST',
      path: '/v1/accounts/session',
      operationId: 'sign_in',
      summary: 'Sign a browser in, by a link or a key; the reply sets a cookie',
      family: 'training',
      access: 'open',
      body: wire.SignInReq,
      reply: 'raw',
      replyTypes: ['application/json'],
      response: wire.SignInRes,
      refusals: [401, 409],
      handle: sessions.signIn,
    }),
    route({
      method: 'DELETE',
      path: '/v1/accounts/session',
      operationId: 'sign_out',
      summary: 'Sign a browser out',
      family: 'training',
      access: 'open',
      reply: 'raw',
      replyTypes: ['application/json'],
      response: wire.SignOutRes,
      handle: sessions.signOut,
    }),
  ]
}
