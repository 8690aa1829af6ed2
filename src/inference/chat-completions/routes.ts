import * as access from '../../http/access.ts'
import { type Route, route } from '../../http/route.ts'
import type { ChatCompletions } from './service.ts'
import { ChatCompletionReq, ChatCompletionRes } from './wire.ts'

export function chatCompletionsRoutes(chat: ChatCompletions): Route[] {
  return [
    route({
      method: 'POST',
      path: ['/v1/chat/completions', '/v1/chat/completions/'],
      operationId: 'create_chat_completion',
      summary: 'Answer a conversation',
      family: 'openai',
      access: access.byHandler('infer'),
      body: ChatCompletionReq,
      reply: 'raw',
      replyTypes: ['application/json', 'text/event-stream'],
      response: ChatCompletionRes,
      handle: chat.createTraced,
    }),
  ]
}
