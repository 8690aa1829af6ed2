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
      body: LinkReq,
      reply: 'json',
      response: LinkRes,
      handle: registry.link,
    }),
  ]
}
