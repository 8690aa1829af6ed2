import * as access from '../../http/access.ts'
import { type Route, route } from '../../http/route.ts'
import type { CallStats } from './service.ts'
import * as wire from './wire.ts'

export function callStatsRoutes(callStats: CallStats): Route[] {
  return [
    route({
      method: 'POST',
      path: '/calls/stats',
      operationId: 'call_stats',
      summary: 'Time series of calls, latency, tokens and costs',
      family: 'trace',
      access: access.project('read'),
      body: wire.CallStatsReq,
      reply: 'json',
      response: wire.CallStatsRes,
      handle: callStats.stats,
    }),
  ]
}
