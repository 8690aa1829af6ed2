import { type Route, route } from '../../http/route.ts'
import type { TypedObjects } from './service.ts'
import * as wire from './wire.ts'

export function typedObjectsRoutes(service: TypedObjects): Route[] {
  return [
    ...opsRoutes(service),
    ...datasetsRoutes(service),
    ...scorersRoutes(service),
    ...modelsRoutes(service),
    ...evaluationsRoutes(service),
  ]
}

function opsRoutes({ ops }: TypedObjects): Route[] {
  return [
    route({
      method: 'POST',
      path: '/v2/{entity}/{project}/ops',
      operationId: 'op_create',
      family: 'trace',
      pathParams: wire.ProjectPath,
      body: wire.OpCreateReq,
      reply: 'json',
      response: wire.OpCreateRes,
      handle: ops.create,
    }),
    route({
      method: 'GET',
      path: '/v2/{entity}/{project}/ops',
      operationId: 'op_list',
      family: 'trace',
      pathParams: wire.ProjectPath,
      query: wire.ListQuery,
      reply: 'jsonl',
      response: wire.Op,
      handle: ops.list,
    }),
    route({
      method: 'GET',
      path: '/v2/{entity}/{project}/ops/{object_id}/versions/{digest}',
      operationId: 'op_read',
      family: 'trace',
      pathParams: wire.VersionPath,
      reply: 'json',
      response: wire.Op,
      handle: ops.read,
    }),
    route({
      method: 'DELETE',
      path: '/v2/{entity}/{project}/ops/{object_id}',
      operationId: 'op_delete',
      family: 'trace',
      pathParams: wire.ObjectPath,
      query: wire.DeleteQuery,
      reply: 'json',
      response: wire.DeleteRes,
      handle: ops.delete,
    }),
  ]
}

function datasetsRoutes({ datasets }: TypedObjects): Route[] {
  return [
    route({
      method: 'POST',
      path: '/v2/{entity}/{project}/datasets',
      operationId: 'dataset_create',
      family: 'trace',
      pathParams: wire.ProjectPath,
      body: wire.DatasetCreateReq,
      reply: 'json',
      response: wire.DatasetCreateRes,
      handle: datasets.create,
    }),
    route({
      method: 'GET',
      path: '/v2/{entity}/{project}/datasets',
      operationId: 'dataset_list',
      family: 'trace',
      pathParams: wire.ProjectPath,
      query: wire.ListQuery,
      reply: 'jsonl',
      response: wire.Dataset,
      handle: datasets.list,
    }),
    route({
      method: 'GET',
      path: '/v2/{entity}/{project}/datasets/{object_id}/versions/{digest}',
      operationId: 'dataset_read',
      family: 'trace',
      pathParams: wire.VersionPath,
      reply: 'json',
      response: wire.Dataset,
      handle: datasets.read,
    }),
    route({
      method: 'DELETE',
      path: '/v2/{entity}/{project}/datasets/{object_id}',
      operationId: 'dataset_delete',
      family: 'trace',
      pathParams: wire.ObjectPath,
      query: wire.DeleteQuery,
      reply: 'json',
      response: wire.DeleteRes,
      handle: datasets.delete,
    }),
  ]
}

function scorersRoutes({ scorers }: TypedObjects): Route[] {
  return [
    route({
      method: 'POST',
      path: '/v2/{entity}/{project}/scorers',
      operationId: 'scorer_create',
      family: 'trace',
      pathParams: wire.ProjectPath,
      body: wire.ScorerCreateReq,
      reply: 'json',
      response: wire.ScorerCreateRes,
      handle: scorers.create,
    }),
    route({
      method: 'GET',
      path: '/v2/{entity}/{project}/scorers',
      operationId: 'scorer_list',
      family: 'trace',
      pathParams: wire.ProjectPath,
      query: wire.ListQuery,
      reply: 'jsonl',
      response: wire.Scorer,
      handle: scorers.list,
    }),
    route({
      method: 'GET',
      path: '/v2/{entity}/{project}/scorers/{object_id}/versions/{digest}',
      operationId: 'scorer_read',
      family: 'trace',
      pathParams: wire.VersionPath,
      reply: 'json',
      response: wire.Scorer,
      handle: scorers.read,
    }),
    route({
      method: 'DELETE',
      path: '/v2/{entity}/{project}/scorers/{object_id}',
      operationId: 'scorer_delete',
      family: 'trace',
      pathParams: wire.ObjectPath,
      query: wire.DeleteQuery,
      reply: 'json',
      response: wire.DeleteRes,
      handle: scorers.delete,
    }),
  ]
}

function modelsRoutes({ models }: TypedObjects): Route[] {
  return [
    route({
      method: 'POST',
      path: '/v2/{entity}/{project}/models',
      operationId: 'typed_model_create',
      family: 'trace',
      pathParams: wire.ProjectPath,
      body: wire.ModelCreateReq,
      reply: 'json',
      response: wire.ModelCreateRes,
      handle: models.create,
    }),
    route({
      method: 'GET',
      path: '/v2/{entity}/{project}/models',
      operationId: 'typed_model_list',
      family: 'trace',
      pathParams: wire.ProjectPath,
      query: wire.ListQuery,
      reply: 'jsonl',
      response: wire.TypedModel,
      handle: models.list,
    }),
    route({
      method: 'GET',
      path: '/v2/{entity}/{project}/models/{object_id}/versions/{digest}',
      operationId: 'typed_model_read',
      family: 'trace',
      pathParams: wire.VersionPath,
      reply: 'json',
      response: wire.TypedModel,
      handle: models.read,
    }),
    route({
      method: 'DELETE',
      path: '/v2/{entity}/{project}/models/{object_id}',
      operationId: 'typed_model_delete',
      family: 'trace',
      pathParams: wire.ObjectPath,
      query: wire.DeleteQuery,
      reply: 'json',
      response: wire.DeleteRes,
      handle: models.delete,
    }),
  ]
}

function evaluationsRoutes({ evaluations }: TypedObjects): Route[] {
  return [
    route({
      method: 'POST',
      path: '/v2/{entity}/{project}/evaluations',
      operationId: 'evaluation_create',
      family: 'trace',
      pathParams: wire.ProjectPath,
      body: wire.EvaluationCreateReq,
      reply: 'json',
      response: wire.EvaluationCreateRes,
      handle: evaluations.create,
    }),
    route({
      method: 'GET',
      path: '/v2/{entity}/{project}/evaluations',
      operationId: 'evaluation_list',
      family: 'trace',
      pathParams: wire.ProjectPath,
      query: wire.ListQuery,
      reply: 'jsonl',
      response: wire.Evaluation,
      handle: evaluations.list,
    }),
    route({
      method: 'GET',
      path: '/v2/{entity}/{project}/evaluations/{object_id}/versions/{digest}',
      operationId: 'evaluation_read',
      family: 'trace',
      pathParams: wire.VersionPath,
      reply: 'json',
      response: wire.Evaluation,
      handle: evaluations.read,
    }),
    route({
      method: 'DELETE',
      path: '/v2/{entity}/{project}/evaluations/{object_id}',
      operationId: 'evaluation_delete',
      family: 'trace',
      pathParams: wire.ObjectPath,
      query: wire.DeleteQuery,
      reply: 'json',
      response: wire.DeleteRes,
      handle: evaluations.delete,
    }),
  ]
}
