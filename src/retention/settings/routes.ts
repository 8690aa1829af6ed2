import * as access from '../../http/access.ts'
import { type Route, route } from '../../http/route.ts'
import { IfVersion } from '../../wire/settings-version-wire.ts'
import type { RetentionSettings } from './service.ts'
import { Retention, RetentionPath, StoredRetention } from './wire.ts'

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
      response: StoredRetention,
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
      query: IfVersion,
      body: Retention,
      reply: 'json',
      response: StoredRetention,
      refusals: [409],
      handle: settings.update,
    }),
  ]
}
