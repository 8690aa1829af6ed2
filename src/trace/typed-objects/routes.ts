import type { z } from 'zod'
import * as access from '../../http/access.ts'
import { type Route, type RouteDeclaration, route } from '../../http/route.ts'
import { ProjectPath } from '../project-path-wire.ts'
import type { TypedObjects } from './service.ts'
import * as wire from './wire.ts'

export function typedObjectsRoutes({ ops, datasets, scorers, models, evaluations }: TypedObjects): Route[] {
  return [
    ...groupRoutes(ops, {
      name: 'op',
      one: 'an op',
      many: 'ops',
      path: '/v2/{entity}/{project}/ops',
      objectPath: '/v2/{entity}/{project}/ops/{object_id}',
      versionPath: '/v2/{entity}/{project}/ops/{object_id}/versions/{digest}',
      create: { body: wire.OpCreateReq, response: wire.OpCreateRes, handle: ops.create },
      shown: wire.Op,
    }),
    ...groupRoutes(datasets, {
      name: 'dataset',
      one: 'a dataset',
      many: 'datasets',
      path: '/v2/{entity}/{project}/datasets',
      objectPath: '/v2/{entity}/{project}/datasets/{object_id}',
      versionPath: '/v2/{entity}/{project}/datasets/{object_id}/versions/{digest}',
      create: { body: wire.DatasetCreateReq, response: wire.DatasetCreateRes, handle: datasets.create },
      shown: wire.Dataset,
    }),
    ...groupRoutes(scorers, {
      name: 'scorer',
      one: 'a scorer',
      many: 'scorers',
      path: '/v2/{entity}/{project}/scorers',
      objectPath: '/v2/{entity}/{project}/scorers/{object_id}',
      versionPath: '/v2/{entity}/{project}/scorers/{object_id}/versions/{digest}',
      create: { body: wire.ScorerCreateReq, response: wire.ScorerCreateRes, handle: scorers.create },
      shown: wire.Scorer,
    }),
    ...groupRoutes(models, {
      name: 'typed_model',
      one: 'a model',
      many: 'models',
      path: '/v2/{entity}/{project}/models',
      objectPath: '/v2/{entity}/{project}/models/{object_id}',
      versionPath: '/v2/{entity}/{project}/models/{object_id}/versions/{digest}',
      create: { body: wire.ModelCreateReq, response: wire.ModelCreateRes, handle: models.create },
      shown: wire.TypedModel,
    }),
    ...groupRoutes(evaluations, {
      name: 'evaluation',
      one: 'an evaluation',
      many: 'evaluations',
      path: '/v2/{entity}/{project}/evaluations',
      objectPath: '/v2/{entity}/{project}/evaluations/{object_id}',
      versionPath: '/v2/{entity}/{project}/evaluations/{object_id}/versions/{digest}',
      create: {
        body: wire.EvaluationCreateReq,
        response: wire.EvaluationCreateRes,
        handle: evaluations.create,
      },
      shown: wire.Evaluation,
    }),
  ]
}

type Creation<Req extends z.ZodType, Res extends z.ZodType> = Pick<
  RouteDeclaration<typeof ProjectPath, undefined, Req, Res, 'json'>,
  'body' | 'response' | 'handle'
>

/** The endpoints of one class, which differ in what is created and shown. */
function groupRoutes<Req extends z.ZodType, Res extends z.ZodType, Shown extends z.ZodType>(
  group: {
    list(req: wire.ListReq): Promise<AsyncIterable<z.input<Shown>>>
    read(req: wire.VersionPath): Promise<z.input<Shown>>
    delete(req: wire.DeleteReq): Promise<z.input<typeof wire.DeleteRes>>
  },
  declared: {
    name: string
    one: string
    many: string
    path: string
    objectPath: string
    versionPath: string
    create: Creation<Req, Res>
    shown: Shown
  },
): Route[] {
  const { name, one, many, path, objectPath, versionPath, create, shown } = declared
  return [
    route({
      ...create,
      method: 'POST',
      path,
      operationId: `${name}_create`,
      summary: `Publish ${one}`,
      family: 'trace',
      access: access.pathProject('ingest'),
      pathParams: ProjectPath,
      reply: 'json',
    }),
    route({
      method: 'GET',
      path,
      operationId: `${name}_list`,
      summary: `List ${many}, one JSON document a line`,
      family: 'trace',
      access: access.pathProject('read'),
      pathParams: ProjectPath,
      query: wire.ListQuery,
      reply: 'jsonl',
      response: shown,
      handle: group.list,
    }),
    route({
      method: 'GET',
      path: versionPath,
      operationId: `${name}_read`,
      summary: `Read a version of ${one}`,
      family: 'trace',
      access: access.pathProject('read'),
      refusals: [400],
      pathParams: wire.VersionPath,
      reply: 'json',
      response: shown,
      handle: group.read,
    }),
    route({
      method: 'DELETE',
      path: objectPath,
      operationId: `${name}_delete`,
      summary: `Delete versions of ${one}`,
      family: 'trace',
      access: access.pathProject('write'),
      pathParams: wire.ObjectPath,
      query: wire.DeleteQuery,
      reply: 'json',
      response: wire.DeleteRes,
      handle: group.delete,
    }),
  ]
}
