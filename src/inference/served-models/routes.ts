import { type Route, route } from '../../http/route.ts'
import type { ServedModels } from './service.ts'
import { ServedModelPath, ServedModelRes, ServedModelsRes } from './wire.ts'

export function servedModelsRoutes(served: ServedModels): Route[] {
  return [
    route({
      method: 'GET',
      path: '/v1/models',
      operationId: 'list_served_models',
      summary: 'List the models that a key may name',
      family: 'openai',
      access: 'any-key',
      reply: 'json',
      response: ServedModelsRes,
      handle: served.list,
    }),
    route({
      method: 'GET',
      // Wire: names have slashes, which some clients escape and others do not.
      path: '/v1/models/{model+}',
      operationId: 'read_served_model',
      summary: 'Read a model that a key may name',
      family: 'openai',
      access: 'any-key',
      pathParams: ServedModelPath,
      reply: 'json',
      response: ServedModelRes,
      handle: served.read,
    }),
  ]
}
