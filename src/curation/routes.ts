import * as access from '../http/access.ts'
import { type Route, route } from '../http/route.ts'
import { ProjectPath } from '../trace/project-path-wire.ts'
import type { Curation } from './service.ts'
import { CollectReq, CollectRes } from './wire.ts'

export function curationRoutes(curation: Curation): Route[] {
  return [
    route({
      method: 'POST',
      path: '/v2/{entity}/{project}/collect',
      operationId: 'collect',
      summary: 'Make training data of calls, queue items or predictions',
      family: 'trace',
      access: access.pathProject('write'),
      pathParams: ProjectPath,
      body: CollectReq,
      reply: 'json',
      response: CollectRes,
      refusals: [409],
      handle: curation.collect,
    }),
  ]
}
