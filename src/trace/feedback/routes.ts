import * as access from '../../http/access.ts'
import { type Route, route } from '../../http/route.ts'
import type { Feedback } from './service.ts'
import * as wire from './wire.ts'

export function feedbackRoutes(feedback: Feedback): Route[] {
  return [
    route({
      method: 'POST',
      path: '/feedback/create',
      operationId: 'feedback_create',
      summary: 'Add feedback to a call or object',
      family: 'trace',
      access: access.project('ingest'),
      body: wire.FeedbackCreateReq,
      reply: 'json',
      response: wire.FeedbackCreateRes,
      handle: feedback.create,
    }),
    route({
      method: 'POST',
      path: '/feedback/batch/create',
      operationId: 'feedback_create_batch',
      summary: 'Add many feedbacks',
      family: 'trace',
      access: access.projects('ingest', ({ batch }: wire.FeedbackCreateBatchReq) =>
        batch.map(({ project_id }) => project_id),
      ),
      body: wire.FeedbackCreateBatchReq,
      reply: 'json',
      response: wire.FeedbackCreateBatchRes,
      handle: feedback.createBatch,
    }),
    route({
      method: 'POST',
      path: '/feedback/query',
      operationId: 'feedback_query',
      summary: 'Query feedback',
      family: 'trace',
      access: access.project('read'),
      body: wire.FeedbackQueryReq,
      reply: 'json',
      response: wire.FeedbackQueryRes,
      handle: feedback.query,
    }),
    route({
      method: 'POST',
      path: '/feedback/purge',
      operationId: 'feedback_purge',
      summary: 'Delete feedback',
      family: 'trace',
      access: access.project('write'),
      body: wire.FeedbackPurgeReq,
      reply: 'json',
      response: wire.FeedbackPurgeRes,
      handle: feedback.purge,
    }),
    route({
      method: 'POST',
      path: '/feedback/replace',
      operationId: 'feedback_replace',
      summary: 'Replace a feedback by another',
      family: 'trace',
      access: access.project('write'),
      body: wire.FeedbackReplaceReq,
      reply: 'json',
      response: wire.FeedbackCreateRes,
      handle: feedback.replace,
    }),
  ]
}
