import { type Route, route } from '../../http/route.ts'
import type { Graphql } from './service.ts'
import { GraphqlReq, GraphqlRes } from './wire.ts'

export function graphqlRoutes(service: Graphql): Route[] {
  return [
    route({
      method: 'POST',
      path: '/graphql',
      operationId: 'graphql',
      family: 'trace',
      body: GraphqlReq,
      reply: 'json',
      response: GraphqlRes,
      handle: service.run,
    }),
  ]
}
