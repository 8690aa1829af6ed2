import * as access from '../../http/access.ts'
import { type Route, route } from '../../http/route.ts'
import type { Completions } from './service.ts'
import { CompletionReq, CompletionRes } from './wire.ts'

export function completionsRoutes(completions: Completions): Route[] {
  return [
    route({
      method: 'POST',
      path: ['/v1/completions', '/v1/completions/'],
      operationId: 'create_completion',
      summary: 'Continue a text',
      family: 'openai',
      access: access.byHandler('infer'),
      body: CompletionReq,
      reply: 'raw',
      replyTypes: ['application/json', 'text/event-stream'],
      response: CompletionRes,
      handle: completions.createTraced,
    }),
  ]
}
