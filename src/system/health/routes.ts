import { type Route, route } from '../../http/route.ts'
import type { Health } from './service.ts'
import { HealthRes, SystemCheckRes, TrainingHealthRes } from './wire.ts'

export function healthRoutes(health: Health): Route[] {
  return [
    route({
      method: 'GET',
      path: '/health',
      operationId: 'health',
      summary: 'Whether the stores work',
      family: 'trace',
      access: 'open',
      reply: 'raw',
      replyTypes: ['application/json'],
      response: HealthRes,
      reportedAt: [503],
      handle: health.ofStores,
    }),
    route({
      method: 'GET',
      path: '/v1/health',
      operationId: 'training_health',
      summary: 'Whether the training API answers',
      family: 'training',
      access: 'open',
      reply: 'json',
      response: TrainingHealthRes,
      handle: health.ofTraining,
    }),
    route({
      method: 'GET',
      path: '/v1/system-check',
      operationId: 'system_check',
      summary: 'Whether everything that training needs works',
      family: 'training',
      access: 'machine',
      reply: 'raw',
      replyTypes: ['application/json'],
      response: SystemCheckRes,
      reportedAt: [503],
      handle: health.systemCheck,
    }),
  ]
}
