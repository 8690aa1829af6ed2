import { type Route, route } from '../../http/route.ts'
import { ModelPath } from '../checkpoints/wire.ts'
import type { Models } from './service.ts'
import { ModelCreateReq, ModelDeleteRes, ModelRes } from './wire.ts'

export function modelsRoutes(models: Models): Route[] {
  return [
    route({
      method: 'POST',
      path: '/v1/preview/models',
      operationId: 'create_model',
      family: 'training',
      body: ModelCreateReq,
      reply: 'json',
      response: ModelRes,
      handle: models.create,
    }),
    route({
      method: 'DELETE',
      path: '/v1/preview/models/{model_id}',
      operationId: 'delete_model',
      family: 'training',
      pathParams: ModelPath,
      reply: 'json',
      response: ModelDeleteRes,
      handle: models.delete,
    }),
  ]
}
