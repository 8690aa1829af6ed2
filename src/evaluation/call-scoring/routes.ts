import { type Route, route } from '../../http/route.ts'
import type { CallScoring } from './service.ts'
import * as wire from './wire.ts'

export function callScoringRoutes(service: CallScoring): Route[] {
  return [
    route({
      method: 'POST',
      path: '/calls/score',
      operationId: 'calls_score',
      family: 'trace',
      body: wire.CallsScoreReq,
      reply: 'json',
      response: wire.CallsScoreRes,
      handle: service.score,
    }),
  ]
}
