import { type Route, route } from '../../http/route.ts'
import type { ChatCompletions } from './service.ts'
import { ChatCompletionReq, ChatCompletionRes } from './wire.ts'

export function chatCompletionsRoutes(chat: ChatCompletions): Route[] {
  return [
    route({
      method: 'POST',
      path: ['/v1/chat/completions', '/v1/chat/completions/'],
      operationId: 'create_chat_completion',
      family: 'openai',
      body: ChatCompletionReq,
      reply: 'raw',
      response: ChatCompletionRes,
      handle: chat.createTraced,
    }),
  ]
}
