import { type Route, route } from '../../http/route.ts'
import type { Usage } from './service.ts'
import { UsageQuery, UsageRes } from './wire.ts'

export function usageRoutes(usage: Usage): Route[] {
  return [
    route({
      method: 'GET',
      path: '/v1/usage',
      operationId: 'query_usage',
      summary: 'Tokens and costs by entity, project, model, step, key and hour',
      family: 'openai',
      access: 'any-key',
      query: UsageQuery,
      reply: 'json',
      response: UsageRes,
      handle: usage.query,
    }),
  ]
}
