import { type Route, route } from '../../http/route.ts'
import type { Graphql } from './service.ts'
import { GraphqlReq, GraphqlRes } from './wire.ts'

export function graphqlRoutes(service: Graphql): Route[] {
  return [
    route({
      method: 'POST',
      path: '/graphql',
      operationId: 'graphql',
      summary: 'Run a GraphQL document of a W&B client',
      family: 'trace',
      access: 'any-key',
      body: GraphqlReq,
      reply: 'json',
      response: GraphqlRes,
      handle: service.run,
    }),
  ]
}
