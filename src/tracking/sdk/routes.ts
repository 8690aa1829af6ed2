import { type Route, route, UnreadBody } from '../../http/route.ts'
import type { Sdk } from './service.ts'
import * as wire from './wire.ts'

export function sdkRoutes(sdk: Sdk): Route[] {
  return [
    route({
      method: 'POST',
      path: ['/sdk/otel/v1/metrics', '/sdk/otel/v1/logs'],
      operationId: 'sdk_metrics',
      summary: 'Accept the telemetry that W&B clients send of themselves',
      family: 'training',
      access: 'open',
      body: UnreadBody,
      bodyKind: 'stream',
      bodyTypes: ['application/x-protobuf', 'application/octet-stream'],
      streamedBody: wire.ReportBytes,
      reply: 'raw',
      replyTypes: ['application/x-protobuf'],
      response: wire.ReportBytes,
      handle: sdk.takeReport,
    }),
  ]
}
