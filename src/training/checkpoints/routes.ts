import * as access from '../../http/access.ts'
import { type Route, route } from '../../http/route.ts'
import type { ModelRegistry } from '../model-registry/service.ts'
import type { Forking } from './forking.ts'
import type { Merging } from './merging.ts'
import type { Checkpoints } from './service.ts'
import {
  CheckpointBytes,
  CheckpointFilePath,
  CheckpointPath,
  CheckpointRes,
  CheckpointsDeleteReq,
  CheckpointsDeleteRes,
  CheckpointsListQuery,
  CheckpointsListRes,
  ForkReq,
  ModelPath,
  TagPath,
  TagsRes,
} from './wire.ts'

interface OfModel {
  model_id: string
}

export function checkpointsRoutes(services: {
  models: Pick<ModelRegistry, 'withModel'>
  checkpoints: Checkpoints
  forking: Forking
  merging: Merging
}): Route[] {
  const { models, checkpoints, forking, merging } = services
  return [
    route({
      method: 'GET',
      path: '/v1/preview/models/{model_id}/checkpoints',
      operationId: 'list_checkpoints',
      summary: 'List checkpoints of a model',
      family: 'training',
      access: access.owned('read', 'model', 'model_id'),
      pathParams: ModelPath,
      query: CheckpointsListQuery,
      reply: 'json',
      response: CheckpointsListRes,
      handle: models.withModel((_model, req: OfModel & CheckpointsListQuery) => checkpoints.list(req)),
    }),
    route({
      method: 'DELETE',
      path: '/v1/preview/models/{model_id}/checkpoints',
      operationId: 'delete_checkpoints',
      summary: 'Delete checkpoints of a model by step',
      family: 'training',
      access: access.owned('write', 'model', 'model_id'),
      pathParams: ModelPath,
      body: CheckpointsDeleteReq,
      reply: 'json',
      response: CheckpointsDeleteRes,
      handle: models.withModel((_model, req: OfModel & CheckpointsDeleteReq) => checkpoints.delete(req)),
    }),
    route({
      method: 'GET',
      path: '/v1/preview/models/{model_id}/checkpoints/{checkpoint}',
      operationId: 'get_checkpoint',
      summary: 'Read a checkpoint by step, latest, best or tag',
      family: 'training',
      access: access.owned('read', 'model', 'model_id'),
      pathParams: CheckpointPath,
      reply: 'json',
      response: CheckpointRes,
      handle: models.withModel((model, req: CheckpointPath) => checkpoints.read(model, req.checkpoint)),
    }),
    route({
      method: 'GET',
      path: '/v1/preview/models/{model_id}/checkpoints/{checkpoint}/files/{file}',
      operationId: 'download_checkpoint_file',
      summary: 'Download a file of a checkpoint',
      family: 'training',
      access: access.owned('read', 'model', 'model_id'),
      pathParams: CheckpointFilePath,
      reply: 'raw',
      response: CheckpointBytes,
      refusals: [416],
      handle: models.withModel((model, req: CheckpointFilePath, context) =>
        checkpoints.download(model, req, { part: 'checkpoint', range: context.header('range') }),
      ),
    }),
    route({
      method: 'POST',
      path: '/v1/preview/models/{model_id}/checkpoints/{checkpoint}/merge',
      operationId: 'merge_checkpoint',
      summary: 'Merge a checkpoint into a whole model',
      family: 'training',
      access: access.owned('write', 'model', 'model_id'),
      pathParams: CheckpointPath,
      reply: 'json',
      response: CheckpointRes,
      handle: models.withModel((model, req: CheckpointPath, context) =>
        merging.merge(model, req.checkpoint, context),
      ),
    }),
    route({
      method: 'GET',
      path: '/v1/preview/models/{model_id}/checkpoints/{checkpoint}/merged/{file}',
      operationId: 'download_merged_file',
      summary: 'Download a file of a merged model',
      family: 'training',
      access: access.owned('read', 'model', 'model_id'),
      pathParams: CheckpointFilePath,
      reply: 'raw',
      response: CheckpointBytes,
      refusals: [416],
      handle: models.withModel((model, req: CheckpointFilePath, context) =>
        checkpoints.download(model, req, { part: 'merged', range: context.header('range') }),
      ),
    }),
    route({
      method: 'PUT',
      path: '/v1/preview/models/{model_id}/checkpoints/{checkpoint}/tags/{tag}',
      operationId: 'tag_checkpoint',
      summary: 'Tag a checkpoint',
      family: 'training',
      access: access.owned('write', 'model', 'model_id'),
      pathParams: TagPath,
      reply: 'json',
      response: TagsRes,
      handle: models.withModel((model, req: TagPath) =>
        checkpoints.tag(model, req.checkpoint, { set: req.tag }),
      ),
    }),
    route({
      method: 'DELETE',
      path: '/v1/preview/models/{model_id}/checkpoints/{checkpoint}/tags/{tag}',
      operationId: 'untag_checkpoint',
      summary: 'Remove a tag from a checkpoint',
      family: 'training',
      access: access.owned('write', 'model', 'model_id'),
      pathParams: TagPath,
      reply: 'json',
      response: TagsRes,
      handle: models.withModel((model, req: TagPath) =>
        checkpoints.tag(model, req.checkpoint, { remove: req.tag }),
      ),
    }),
    route({
      method: 'POST',
      path: '/v1/preview/models/{model_id}/fork',
      operationId: 'fork_checkpoint',
      summary: 'Start a model from a checkpoint of another',
      family: 'training',
      access: access.owned('write', 'model', 'model_id'),
      pathParams: ModelPath,
      body: ForkReq,
      reply: 'json',
      response: CheckpointRes,
      handle: models.withModel((model, req: OfModel & ForkReq, context) => forking.fork(model, req, context)),
    }),
  ]
}
