import * as access from '../../http/access.ts'
import { type Route, route } from '../../http/route.ts'
import { ProjectPath } from '../../trace/project-path-wire.ts'
import type { CallScoring } from './service.ts'
import * as wire from './wire.ts'

export function callScoringRoutes(service: CallScoring): Route[] {
  return [
    route({
      method: 'POST',
      path: '/calls/score',
      operationId: 'calls_score',
      summary: 'Score calls on the server',
      family: 'trace',
      access: access.project('write'),
      body: wire.CallsScoreReq,
      reply: 'json',
      response: wire.CallsScoreRes,
      handle: service.score,
    }),
    route({
      method: 'GET',
      path: '/v2/{entity}/{project}/monitors',
      operationId: 'monitors_list',
      summary: 'Tell whether the monitors of a project run, why not, and what they have scored',
      family: 'trace',
      access: access.pathProject('read'),
      pathParams: ProjectPath,
      reply: 'json',
      response: wire.MonitorsRes,
      handle: service.monitors,
    }),
  ]
}
