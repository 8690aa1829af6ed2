import * as access from '../../http/access.ts'
import { type Route, route } from '../../http/route.ts'
import type { Tokens } from './service.ts'
import { DetokenizeReq, DetokenizeRes, TokenizeReq, TokenizeRes } from './wire.ts'

export function tokensRoutes(tokens: Tokens): Route[] {
  return [
    route({
      method: 'POST',
      path: ['/v1/tokenize', '/tokenize'],
      operationId: 'tokenize',
      summary: 'Token ids of a text or a conversation',
      family: 'openai',
      access: access.byHandler('infer'),
      body: TokenizeReq,
      reply: 'raw',
      replyTypes: ['application/json'],
      response: TokenizeRes,
      handle: tokens.tokenize,
    }),
    route({
      method: 'POST',
      path: ['/v1/detokenize', '/detokenize'],
      operationId: 'detokenize',
      summary: 'Text of token ids',
      family: 'openai',
      access: access.byHandler('infer'),
      body: DetokenizeReq,
      reply: 'raw',
      replyTypes: ['application/json'],
      response: DetokenizeRes,
      handle: tokens.detokenize,
    }),
  ]
}
