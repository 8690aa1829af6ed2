import * as access from '../../http/access.ts'
import { type Route, route } from '../../http/route.ts'
import type { Embeddings } from './service.ts'
import { EmbeddingsReq, EmbeddingsRes } from './wire.ts'

export function embeddingsRoutes(embeddings: Embeddings): Route[] {
  return [
    route({
      method: 'POST',
      path: '/v1/embeddings',
      operationId: 'create_embeddings',
      summary: 'Embed texts',
      family: 'openai',
      access: access.byHandler('infer'),
      body: EmbeddingsReq,
      reply: 'raw',
      replyTypes: ['application/json'],
      response: EmbeddingsRes,
      handle: embeddings.create,
    }),
  ]
}
