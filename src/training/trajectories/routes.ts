import * as access from '../../http/access.ts'
import { type Route, route, UnreadBody } from '../../http/route.ts'
import type { Trajectories } from './service.ts'
import { LogPath, LogReq, LogRes } from './wire.ts'

export function trajectoriesRoutes(trajectories: Trajectories): Route[] {
  return [
    route({
      method: 'POST',
      path: '/v1/preview/models/{model_id}/log',
      operationId: 'log_trajectories',
      summary: 'Log metrics and trajectories of a checkpoint without training',
      family: 'training',
      access: access.owned('write', 'model', 'model_id'),
      pathParams: LogPath,
      body: UnreadBody,
      bodyKind: 'stream',
      streamedBody: LogReq,
      reply: 'json',
      response: LogRes,
      handle: trajectories.log,
    }),
  ]
}
