import * as access from '../../http/access.ts'
import { type Route, route } from '../../http/route.ts'
import type { FeedbackStats } from './service.ts'
import * as wire from './wire.ts'

export function feedbackStatsRoutes(feedbackStats: FeedbackStats): Route[] {
  return [
    route({
      method: 'POST',
      path: '/feedback/stats',
      operationId: 'feedback_stats',
      summary: 'Time series of feedback values',
      family: 'trace',
      access: access.project('read'),
      body: wire.FeedbackStatsReq,
      reply: 'json',
      response: wire.FeedbackStatsRes,
      handle: feedbackStats.stats,
    }),
    route({
      method: 'POST',
      path: '/feedback/payload_schema',
      operationId: 'feedback_payload_schema',
      summary: 'Paths and types that feedback payloads have',
      family: 'trace',
      access: access.project('read'),
      body: wire.PayloadSchemaReq,
      reply: 'json',
      response: wire.PayloadSchemaRes,
      handle: feedbackStats.payloadSchema,
    }),
    route({
      method: 'POST',
      path: '/feedback/aggregate',
      operationId: 'feedback_aggregate',
      summary: 'Aggregate feedback of scorers',
      family: 'trace',
      access: access.project('read'),
      body: wire.FeedbackAggregateReq,
      reply: 'json',
      response: wire.FeedbackAggregateRes,
      handle: feedbackStats.aggregate,
    }),
  ]
}
