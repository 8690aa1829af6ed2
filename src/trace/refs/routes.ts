import * as access from '../../http/access.ts'
import { type Route, route } from '../../http/route.ts'
import { refOf } from '../ref-uri.ts'
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
      access: access.projects('read', ({ refs }: wire.RefsReadBatchReq) =>
        refs.flatMap((ref) => refOf(ref)?.projectId ?? []),
      ),
      body: wire.RefsReadBatchReq,
      reply: 'json',
      response: wire.RefsReadBatchRes,
      handle: refs.readBatch,
    }),
  ]
}
