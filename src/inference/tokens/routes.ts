import { type Route, route } from '../../http/route.ts'
import type { Tokens } from './service.ts'
import { DetokenizeReq, DetokenizeRes, TokenizeReq, TokenizeRes } from './wire.ts'

export function tokensRoutes(tokens: Tokens): Route[] {
  return [
    route({
      method: 'POST',
      path: ['/v1/tokenize', '/tokenize'],
      operationId: 'tokenize',
      family: 'openai',
      body: TokenizeReq,
      reply: 'raw',
      response: TokenizeRes,
      handle: tokens.tokenize,
    }),
    route({
      method: 'POST',
      path: ['/v1/detokenize', '/detokenize'],
      operationId: 'detokenize',
      family: 'openai',
      body: DetokenizeReq,
      reply: 'raw',
      response: DetokenizeRes,
      handle: tokens.detokenize,
    }),
  ]
}
