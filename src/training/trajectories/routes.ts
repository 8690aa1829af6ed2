import { z } from 'zod'
import { type Route, route } from '../../http/route.ts'
import type { Trajectories } from './service.ts'
import { LogPath, LogReq, LogRes } from './wire.ts'

export function trajectoriesRoutes(trajectories: Trajectories): Route[] {
  return [
    route({
      method: 'POST',
      path: '/v1/preview/models/{model_id}/log',
      operationId: 'log_trajectories',
      family: 'training',
      pathParams: LogPath,
      body: z.object({ stream: z.custom<ReadableStream<Uint8Array>>() }),
      bodyKind: 'stream',
      streamedBody: LogReq,
      reply: 'json',
      response: LogRes,
      handle: trajectories.log,
    }),
  ]
}
