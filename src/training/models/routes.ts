import * as access from '../../http/access.ts'
import { type Route, route } from '../../http/route.ts'
import { ModelPath } from '../checkpoints/wire.ts'
import type { Models } from './service.ts'
import { ModelCreateReq, ModelDeleteRes, ModelRes, ModelsListQuery, ModelsListRes } from './wire.ts'

export function modelsRoutes(models: Models): Route[] {
  return [
    route({
      method: 'POST',
      path: '/v1/preview/models',
      operationId: 'create_model',
      summary: 'Register a model to train',
      family: 'training',
      access: access.entity('write'),
      body: ModelCreateReq,
      reply: 'json',
      response: ModelRes,
      refusals: [409],
      handle: models.create,
    }),
    route({
      method: 'GET',
      path: '/v1/preview/models',
      operationId: 'list_models',
      summary: 'List models',
      family: 'training',
      access: access.entity('read'),
      query: ModelsListQuery,
      reply: 'json',
      response: ModelsListRes,
      handle: models.list,
    }),
    route({
      method: 'GET',
      path: '/v1/preview/models/{model_id}',
      operationId: 'get_model',
      summary: 'Read a model',
      family: 'training',
      access: access.owned('read', 'model', 'model_id'),
      pathParams: ModelPath,
      reply: 'json',
      response: ModelRes,
      handle: models.read,
    }),
    route({
      method: 'DELETE',
      path: '/v1/preview/models/{model_id}',
      operationId: 'delete_model',
      summary: 'Delete a model with its checkpoints',
      family: 'training',
      access: access.owned('write', 'model', 'model_id'),
      pathParams: ModelPath,
      reply: 'json',
      response: ModelDeleteRes,
      handle: models.delete,
    }),
  ]
}
