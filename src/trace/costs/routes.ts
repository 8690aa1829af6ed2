import * as access from '../../http/access.ts'
import { type Route, route } from '../../http/route.ts'
import type { Costs } from './service.ts'
import * as wire from './wire.ts'

export function costsRoutes(costs: Costs): Route[] {
  return [
    route({
      method: 'POST',
      path: '/cost/create',
      operationId: 'cost_create',
      summary: 'Set prices of models',
      family: 'trace',
      access: access.project('write'),
      body: wire.CostCreateReq,
      reply: 'json',
      response: wire.CostCreateRes,
      handle: costs.create,
    }),
    route({
      method: 'POST',
      path: '/cost/query',
      operationId: 'cost_query',
      summary: 'Query prices of models',
      family: 'trace',
      access: access.project('read'),
      body: wire.CostQueryReq,
      reply: 'json',
      response: wire.CostQueryRes,
      handle: costs.query,
    }),
    route({
      method: 'POST',
      path: '/cost/purge',
      operationId: 'cost_purge',
      summary: 'Delete prices of models',
      family: 'trace',
      access: access.project('write'),
      body: wire.CostPurgeReq,
      reply: 'json',
      response: wire.CostPurgeRes,
      handle: costs.purge,
    }),
  ]
}
