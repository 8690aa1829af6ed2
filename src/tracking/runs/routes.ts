import { type Route, route, UnreadBody } from '../../http/route.ts'
import { pageOf } from '../../page-wire.ts'
import type { Runs } from './service.ts'
import * as wire from './wire.ts'

export function runsRoutes(runs: Runs): Route[] {
  return [
    route({
      method: 'GET',
      path: '/v1/preview/runs',
      operationId: 'list_runs',
      family: 'training',
      query: wire.RunsListQuery,
      reply: 'json',
      response: pageOf(wire.RunItem),
      handle: runs.list,
    }),
    route({
      method: 'GET',
      path: '/v1/preview/runs/{entity}/{project}/{run}',
      operationId: 'get_run',
      family: 'training',
      pathParams: wire.RunPath,
      reply: 'json',
      response: wire.RunItem,
      handle: runs.get,
    }),
    route({
      method: 'GET',
      path: '/v1/preview/runs/{entity}/{project}/{run}/metrics',
      operationId: 'get_run_metrics',
      family: 'training',
      pathParams: wire.RunPath,
      query: wire.MetricsQuery,
      reply: 'json',
      response: wire.MetricsRes,
      handle: runs.points,
    }),
    route({
      method: 'POST',
      path: '/files/{entity}/{project}/{run}/file_stream',
      operationId: 'file_stream',
      family: 'training',
      pathParams: wire.RunPath,
      body: wire.FileStreamReq,
      reply: 'json',
      response: wire.FileStreamRes,
      handle: runs.receive,
    }),
    route({
      method: 'PUT',
      path: '/storage/run-files/{run_id}',
      operationId: 'upload_run_file',
      family: 'training',
      auth: 'open',
      pathParams: wire.RunFilePath,
      query: wire.RunFileQuery,
      body: UnreadBody,
      bodyKind: 'stream',
      streamedBody: wire.RunFileBytes,
      reply: 'json',
      response: wire.RunFileUploadRes,
      handle: runs.receiveFile,
    }),
    route({
      method: 'GET',
      path: '/storage/run-files/{run_id}',
      operationId: 'download_run_file',
      family: 'training',
      auth: 'open',
      pathParams: wire.RunFilePath,
      query: wire.RunFileQuery,
      reply: 'raw',
      response: wire.RunFileBytes,
      handle: runs.signedFile,
    }),
  ]
}
