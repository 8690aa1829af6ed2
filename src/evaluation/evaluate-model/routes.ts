import * as access from '../../http/access.ts'
import { type Route, route } from '../../http/route.ts'
import type { EvaluateModel } from './service.ts'
import * as wire from './wire.ts'

export function evaluateModelRoutes(service: EvaluateModel): Route[] {
  return [
    route({
      method: 'POST',
      path: '/evaluations/evaluate_model',
      operationId: 'evaluate_model',
      summary: 'Run an evaluation on the server',
      family: 'trace',
      access: access.project('write'),
      body: wire.EvaluateModelReq,
      reply: 'json',
      response: wire.EvaluateModelRes,
      handle: service.evaluate,
    }),
    route({
      method: 'POST',
      path: '/evaluations/status',
      operationId: 'evaluation_status',
      summary: 'How far an evaluation on the server is',
      family: 'trace',
      access: access.project('read'),
      body: wire.EvaluationCallReq,
      reply: 'json',
      response: wire.EvaluationStatusRes,
      handle: service.status,
    }),
    route({
      method: 'POST',
      path: '/evaluations/cancel',
      operationId: 'evaluation_cancel',
      summary: 'Cancel an evaluation on the server',
      family: 'trace',
      access: access.project('write'),
      body: wire.EvaluationCallReq,
      reply: 'json',
      response: wire.Empty,
      refusals: [409],
      handle: service.cancel,
    }),
  ]
}
