import { type Route, route } from '../../http/route.ts'
import type { Models } from '../models/service.ts'
import type { Checkpoints } from './service.ts'
import {
  CheckpointsDeleteReq,
  CheckpointsDeleteRes,
  CheckpointsListQuery,
  CheckpointsListRes,
  ModelPath,
} from './wire.ts'

export function checkpointsRoutes(checkpoints: Checkpoints, models: Models): Route[] {
  return [
    route({
      method: 'GET',
      path: '/v1/preview/models/{model_id}/checkpoints',
      operationId: 'list_checkpoints',
      family: 'training',
      pathParams: ModelPath,
      query: CheckpointsListQuery,
      reply: 'json',
      response: CheckpointsListRes,
      handle: models.withExisting(checkpoints.list),
    }),
    route({
      method: 'DELETE',
      path: '/v1/preview/models/{model_id}/checkpoints',
      operationId: 'delete_checkpoints',
      family: 'training',
      pathParams: ModelPath,
      body: CheckpointsDeleteReq,
      reply: 'json',
      response: CheckpointsDeleteRes,
      handle: models.withExisting(checkpoints.delete),
    }),
  ]
}
