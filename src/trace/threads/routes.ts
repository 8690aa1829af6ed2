import * as access from '../../http/access.ts'
import { type Route, route } from '../../http/route.ts'
import type { Threads } from './service.ts'
import * as wire from './wire.ts'

export function threadsRoutes(threads: Threads): Route[] {
  return [
    route({
      method: 'POST',
      path: '/threads/stream_query',
      operationId: 'threads_query_stream',
      summary: 'Query threads, one JSON document a line',
      family: 'trace',
      access: access.project('read'),
      body: wire.ThreadsQueryReq,
      reply: 'jsonl',
      response: wire.Thread,
      handle: threads.streamQuery,
    }),
  ]
}
