import * as access from '../../http/access.ts'
import { type Route, route } from '../../http/route.ts'
import type { CallFields } from './service.ts'
import * as wire from './wire.ts'

export function callFieldsRoutes(callFields: CallFields): Route[] {
  return [
    route({
      method: 'POST',
      path: '/calls/fields',
      operationId: 'call_fields',
      summary: 'Fields that calls have, with counts, types and frequent values',
      family: 'trace',
      access: access.project('read'),
      body: wire.CallFieldsReq,
      reply: 'json',
      response: wire.CallFieldsRes,
      handle: callFields.fields,
    }),
  ]
}
