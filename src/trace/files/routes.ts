import * as access from '../../http/access.ts'
import { type Route, route } from '../../http/route.ts'
import type { Files } from './service.ts'
import * as wire from './wire.ts'

/** Wire: older clients say `/files/…` where newer ones say `/file/…`. */
export function filesRoutes(files: Files): Route[] {
  return [
    route({
      method: 'POST',
      path: ['/file/create', '/files/create'],
      operationId: 'file_create',
      summary: 'Store a file',
      family: 'trace',
      access: access.project('ingest'),
      body: wire.FileCreateReq,
      bodyKind: 'multipart',
      reply: 'json',
      response: wire.FileCreateRes,
      refusals: [409],
      handle: files.create,
    }),
    route({
      method: 'POST',
      path: ['/file/content', '/files/content'],
      operationId: 'file_content',
      summary: 'Read the bytes of a file',
      family: 'trace',
      access: access.project('read'),
      body: wire.FileContentReq,
      reply: 'raw',
      response: wire.FileContentRes,
      handle: files.content,
    }),
    route({
      method: 'POST',
      path: ['/files/query_stats', '/files/stats'],
      operationId: 'files_stats',
      summary: 'Total size of the files of a project',
      family: 'trace',
      access: access.project('read'),
      body: wire.FilesStatsReq,
      reply: 'json',
      response: wire.FilesStatsRes,
      handle: files.stats,
    }),
  ]
}
