import { type Route, route } from '../../http/route.ts'
import type { FeedbackStats } from './service.ts'
import * as wire from './wire.ts'

export function feedbackStatsRoutes(feedbackStats: FeedbackStats): Route[] {
  return [
    route({
      method: 'POST',
      path: '/feedback/stats',
      operationId: 'feedback_stats',
      family: 'trace',
      body: wire.FeedbackStatsReq,
      reply: 'json',
      response: wire.FeedbackStatsRes,
      handle: feedbackStats.stats,
    }),
    route({
      method: 'POST',
      path: '/feedback/payload_schema',
      operationId: 'feedback_payload_schema',
      family: 'trace',
      body: wire.PayloadSchemaReq,
      reply: 'json',
      response: wire.PayloadSchemaRes,
      handle: feedbackStats.payloadSchema,
    }),
    route({
      method: 'POST',
      path: '/feedback/aggregate',
      operationId: 'feedback_aggregate',
      family: 'trace',
      body: wire.FeedbackAggregateReq,
      reply: 'json',
      response: wire.FeedbackAggregateRes,
      handle: feedbackStats.aggregate,
    }),
  ]
}
