import { type Route, route } from '../../http/route.ts'
import type { Refs } from './service.ts'
import * as wire from './wire.ts'

export function refsRoutes(refs: Refs): Route[] {
  return [
    route({
      method: 'POST',
      path: '/refs/read_batch',
      operationId: 'refs_read_batch',
      summary: 'Read the values behind refs',
      family: 'trace',
      body: wire.RefsReadBatchReq,
      reply: 'json',
      response: wire.RefsReadBatchRes,
      handle: refs.readBatch,
    }),
  ]
}
