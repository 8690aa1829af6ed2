import * as access from '../../http/access.ts'
import { type Route, route } from '../../http/route.ts'
import type { Playground } from './service.ts'
import * as wire from './wire.ts'

export function playgroundRoutes(playground: Playground): Route[] {
  return [
    route({
      method: 'POST',
      path: '/completions/create',
      operationId: 'completions_create',
      summary: 'Ask a model of this server or of a provider, and keep the call',
      family: 'trace',
      access: access.project('infer'),
      body: wire.CompletionsCreateReq,
      reply: 'json',
      response: wire.CompletionsCreateRes,
      handle: playground.createCompletion,
    }),
    route({
      method: 'POST',
      path: '/completions/create_stream',
      operationId: 'completions_create_stream',
      summary: 'Ask a model and stream its answer, one JSON document a line',
      family: 'trace',
      access: access.project('infer'),
      body: wire.CompletionsCreateReq,
      // Lines must be sent as they arrive, while `jsonl` replies collect them.
      reply: 'raw',
      replyTypes: ['application/jsonl'],
      response: wire.CompletionsLine,
      handle: playground.streamCompletion,
    }),
    route({
      method: 'POST',
      path: '/image/create',
      operationId: 'image_create',
      summary: 'Ask a provider for an image, and keep the call',
      family: 'trace',
      access: access.project('infer'),
      body: wire.ImageCreateReq,
      reply: 'json',
      response: wire.ImageCreateRes,
      handle: playground.createImage,
    }),
  ]
}
