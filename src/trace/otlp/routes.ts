import * as access from '../../http/access.ts'
import { BytesBody, type Route, route } from '../../http/route.ts'
import type { Otlp } from './service.ts'
import * as wire from './wire.ts'

/** Wire: the trace service takes 32 MiB a request; here they count after decompression. */
const BODY_BYTES_MAX = 32 * 1024 * 1024

export function otlpRoutes(otlp: Otlp): Route[] {
  return [
    route({
      method: 'POST',
      // Exporters that are given a base URL ask for /v1/traces below it; agents of the Python client have their own.
      path: ['/otel/v1/traces', '/v1/traces', '/agents/otel/v1/traces'],
      operationId: 'otel_export',
      summary: 'Take spans of OpenTelemetry as calls',
      family: 'trace',
      access: access.byHandler('ingest'),
      body: BytesBody,
      bodyKind: 'bytes',
      bodyBytesMax: BODY_BYTES_MAX,
      bodyTypes: ['application/json', 'application/x-protobuf'],
      streamedBody: wire.ExportTraceServiceRequest,
      reply: 'raw',
      replyTypes: ['application/json', 'application/x-protobuf'],
      response: wire.ExportTraceServiceResponse,
      refusals: [415],
      handle: otlp.exportTraces,
    }),
  ]
}
