import { type Route, route } from '../../http/route.ts'
import type { Tables } from './service.ts'
import * as wire from './wire.ts'

export function tablesRoutes(tables: Tables): Route[] {
  return [
    route({
      method: 'POST',
      path: '/table/create',
      operationId: 'table_create',
      family: 'trace',
      body: wire.TableCreateReq,
      reply: 'json',
      response: wire.TableCreateRes,
      handle: tables.create,
    }),
    route({
      method: 'POST',
      path: '/table/create_from_digests',
      operationId: 'table_create_from_digests',
      family: 'trace',
      body: wire.TableCreateFromDigestsReq,
      reply: 'json',
      response: wire.TableCreateFromDigestsRes,
      handle: tables.createFromDigests,
    }),
    route({
      method: 'POST',
      path: '/table/update',
      operationId: 'table_update',
      family: 'trace',
      body: wire.TableUpdateReq,
      reply: 'json',
      response: wire.TableUpdateRes,
      handle: tables.update,
    }),
    route({
      method: 'POST',
      path: '/table/query',
      operationId: 'table_query',
      family: 'trace',
      body: wire.TableQueryReq,
      reply: 'json',
      response: wire.TableQueryRes,
      handle: tables.query,
    }),
    route({
      method: 'POST',
      path: '/table/query_stream',
      operationId: 'table_query_stream',
      family: 'trace',
      body: wire.TableQueryReq,
      reply: 'jsonl',
      response: wire.TableRow,
      handle: tables.queryStream,
    }),
    route({
      method: 'POST',
      path: '/table/query_stats',
      operationId: 'table_query_stats',
      family: 'trace',
      body: wire.TableQueryStatsReq,
      reply: 'json',
      response: wire.TableQueryStatsRes,
      handle: tables.queryStats,
    }),
    route({
      method: 'POST',
      path: '/table/query_stats_batch',
      operationId: 'table_query_stats_batch',
      family: 'trace',
      body: wire.TableQueryStatsBatchReq,
      reply: 'json',
      response: wire.TableQueryStatsBatchRes,
      handle: tables.queryStatsBatch,
    }),
  ]
}
