import * as access from '../../http/access.ts'
import { type Route, route } from '../../http/route.ts'
import { ProjectPath } from '../../trace/project-path-wire.ts'
import type { EvalResults } from './service.ts'
import * as wire from './wire.ts'

export function evalResultsRoutes(service: EvalResults): Route[] {
  return [
    route({
      method: 'POST',
      path: '/v2/{entity}/{project}/eval_results/query',
      operationId: 'eval_results_query',
      summary: 'Compare evaluation runs row by row',
      family: 'trace',
      access: access.pathProject('read'),
      pathParams: ProjectPath,
      body: wire.EvalResultsReq,
      reply: 'json',
      response: wire.EvalResultsRes,
      handle: service.query,
    }),
  ]
}
