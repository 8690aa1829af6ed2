import { type Route, route } from '../../http/route.ts'
import type { Users } from './service.ts'
import * as wire from './wire.ts'

export function usersRoutes(users: Users): Route[] {
  return [
    route({
      method: 'POST',
      path: '/v1/accounts/users',
      operationId: 'create_user',
      summary: 'Add a user, who signs in by the link of the reply',
      family: 'training',
      access: 'operator',
      body: wire.UserCreateReq,
      reply: 'json',
      response: wire.UserCreateRes,
      refusals: [409],
      handle: users.create,
    }),
    route({
      method: 'GET',
      path: '/v1/accounts/users',
      operationId: 'list_users',
      summary: 'List users by name',
      family: 'training',
      access: 'operator',
      query: wire.UsersQuery,
      reply: 'json',
      response: wire.UsersRes,
      handle: users.list,
    }),
    route({
      method: 'PUT',
      path: '/v1/accounts/users/{user}',
      operationId: 'change_user',
      summary: 'Make a user an operator, disable or enable one',
      family: 'training',
      access: 'operator',
      pathParams: wire.UserPath,
      body: wire.UserChangeReq,
      reply: 'json',
      response: wire.User,
      refusals: [409],
      handle: users.change,
    }),
    route({
      method: 'POST',
      path: '/v1/accounts/users/{user}/sign-in-link',
      operationId: 'create_sign_in_link',
      summary: 'Make a link that signs a user in once',
      family: 'training',
      access: 'operator',
      pathParams: wire.UserPath,
      reply: 'json',
      response: wire.SignInLinkRes,
      handle: users.signInLink,
    }),
  ]
}
