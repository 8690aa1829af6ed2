import { type Route, route } from '../../http/route.ts'
import type { InferenceInformation } from './service.ts'
import { AnalysisModelsRes, AnyWordPath, HardwareRes, RouterModelsRes } from './wire.ts'

export function inferenceInformationRoutes(information: InferenceInformation): Route[] {
  return [
    route({
      method: 'GET',
      path: '/inference/router/{any}/models',
      operationId: 'inference_router_models',
      summary: 'Models of the inference service, for W&B clients',
      family: 'trace',
      access: 'any-key',
      pathParams: AnyWordPath,
      reply: 'json',
      response: RouterModelsRes,
      handle: information.routerModels,
    }),
    route({
      method: 'GET',
      path: '/inference/analysis/{any}/models',
      operationId: 'inference_analysis_models',
      summary: 'Models for analysis, for W&B clients',
      family: 'trace',
      access: 'any-key',
      pathParams: AnyWordPath,
      reply: 'json',
      response: AnalysisModelsRes,
      handle: information.analysisModels,
    }),
    route({
      method: 'GET',
      path: '/inference/{any}/v2/hardware',
      operationId: 'inference_hardware',
      summary: 'Hardware of the inference service, for W&B clients',
      family: 'trace',
      access: 'operator',
      pathParams: AnyWordPath,
      reply: 'json',
      response: HardwareRes,
      handle: information.hardware,
    }),
  ]
}
