import * as access from '../../http/access.ts'
import { type Route, route } from '../../http/route.ts'
import type { Registry } from './service.ts'
import { LinkReq, LinkRes } from './wire.ts'

export function registryRoutes(registry: Registry): Route[] {
  return [
    route({
      method: 'POST',
      path: '/link_to_registry',
      operationId: 'link_to_registry',
      summary: 'Link a version of an object into another project under a name',
      family: 'trace',
      access: access.projects('write', ({ target }: LinkReq) => [
        `${target.entity_name}/${target.project_name}`,
      ]),
      body: LinkReq,
      reply: 'json',
      response: LinkRes,
      handle: registry.link,
    }),
  ]
}
