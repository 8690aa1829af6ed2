import * as access from '../../http/access.ts'
import { type Route, route } from '../../http/route.ts'
import type { RetentionSettings } from './service.ts'
import { Retention, RetentionPath } from './wire.ts'

export function retentionRoutes(settings: RetentionSettings): Route[] {
  return [
    route({
      method: 'GET',
      path: '/v2/{entity}/{project}/retention',
      operationId: 'read_retention',
      summary: 'For how many days a project keeps its data, by kind',
      family: 'trace',
      access: access.pathProject('read'),
      pathParams: RetentionPath,
      reply: 'json',
      response: Retention,
      handle: settings.read,
    }),
    route({
      method: 'PUT',
      path: '/v2/{entity}/{project}/retention',
      operationId: 'update_retention',
      summary: 'Set for how many days a project keeps its data; kinds that are left out are kept without end',
      family: 'trace',
      access: access.pathProject('manage'),
      pathParams: RetentionPath,
      body: Retention,
      reply: 'json',
      response: Retention,
      handle: settings.update,
    }),
  ]
}
