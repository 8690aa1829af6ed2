import * as access from '../../http/access.ts'
import { type Route, route } from '../../http/route.ts'
import type { CallUsage } from './service.ts'
import * as wire from './wire.ts'

export function callUsageRoutes(usage: CallUsage): Route[] {
  return [
    route({
      method: 'POST',
      path: '/calls/usage',
      operationId: 'calls_usage',
      summary: 'Token usage and costs of calls with their descendants',
      family: 'trace',
      access: access.project('read'),
      body: wire.CallsUsageReq,
      reply: 'json',
      response: wire.UsageRes,
      handle: usage.ofCalls,
    }),
    route({
      method: 'POST',
      path: '/trace/usage',
      operationId: 'trace_usage',
      summary: 'Token usage and costs of each call of a trace',
      family: 'trace',
      access: access.project('read'),
      body: wire.TraceUsageReq,
      reply: 'json',
      response: wire.UsageRes,
      handle: usage.ofSelection,
    }),
  ]
}
