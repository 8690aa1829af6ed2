import * as access from '../../http/access.ts'
import { type Route, route } from '../../http/route.ts'
import type { Erasures } from './service.ts'
import * as wire from './wire.ts'

export function erasuresRoutes(erasures: Erasures): Route[] {
  return [
    route({
      method: 'DELETE',
      path: '/v2/{entity}/{project}',
      operationId: 'erase_project',
      summary:
        'Erase a project with everything in it; the reply is the receipt, which fills while it goes on',
      family: 'trace',
      access: access.pathProject('manage'),
      pathParams: wire.ProjectErasePath,
      reply: 'json',
      response: wire.Erasure,
      handle: erasures.eraseProject,
    }),
    route({
      method: 'DELETE',
      path: '/v1/accounts/teams/{entity}',
      operationId: 'erase_entity',
      summary: 'Erase an entity: all its projects, members and service accounts',
      family: 'training',
      access: { ...access.entity('manage'), orOperator: true },
      pathParams: wire.EntityErasePath,
      reply: 'json',
      response: wire.Erasure,
      handle: erasures.eraseEntity,
    }),
    route({
      method: 'DELETE',
      path: '/v1/accounts/users/{user}',
      operationId: 'erase_user',
      summary: 'Erase an account, and with data=true what the user wrote',
      family: 'training',
      access: 'operator',
      pathParams: wire.UserErasePath,
      query: wire.UserEraseQuery,
      reply: 'json',
      response: wire.Erasure,
      refusals: [409],
      handle: erasures.eraseUser,
    }),
    route({
      method: 'GET',
      path: '/v1/accounts/erasures',
      operationId: 'list_erasures',
      summary:
        'List receipts of erasures, newest first: operators see all, others those that they asked for, and of these keys with limits only what they may read',
      family: 'training',
      access: 'any-key',
      query: wire.ErasuresQuery,
      reply: 'json',
      response: wire.ErasuresRes,
      handle: erasures.list,
    }),
    route({
      method: 'GET',
      path: '/v1/accounts/erasures/{id}',
      operationId: 'read_erasure',
      summary: 'Read the receipt of an erasure',
      family: 'training',
      access: 'any-key',
      pathParams: wire.ErasurePath,
      reply: 'json',
      response: wire.Erasure,
      handle: erasures.read,
    }),
  ]
}
