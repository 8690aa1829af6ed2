import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import protobuf from 'protobufjs'
import { readTelemetrySetting, type TelemetrySetting } from '../settings/telemetry-setting.ts'

/** A span as it arrived, with ids in hexadecimal. */
export interface ArrivedSpan {
  traceId: string
  spanId: string
  parentSpanId: string
  name: string
  kind: number
  attributes: Record<string, unknown>
  /** 2 for a failed one. */
  status: number
  ms: number
}

/** A metric as it arrived. */
export interface ArrivedMetric {
  name: string
  sum?: { isMonotonic: boolean; dataPoints: ArrivedPoint[] }
  gauge?: { dataPoints: ArrivedPoint[] }
  histogram?: {
    dataPoints: (ArrivedPoint & { count: number; bucketCounts: number[]; explicitBounds: number[] })[]
  }
}

interface ArrivedPoint {
  attributes: Record<string, unknown>
  asDouble?: number
}

export interface TestCollector extends AsyncDisposable {
  url: string
  spans: ArrivedSpan[]
  metrics: ArrivedMetric[]
  resource: Record<string, unknown>
  /** Everything that arrived. */
  bytes(): Buffer
  requests: { path: string; headers: IncomingHttpHeaders }[]
  /** Answers with a status from now on, or not at all. */
  answer(how: number | 'nothing'): void
}

const TRACES = readFileSync(join(import.meta.dirname, '../trace/otlp/otlp.proto'), 'utf8')
const METRICS = `
  message ExportMetricsServiceRequest { repeated ResourceMetrics resource_metrics = 1; }
  message ResourceMetrics { repeated ScopeMetrics scope_metrics = 2; }
  message ScopeMetrics { repeated Metric metrics = 2; }
  message Metric { string name = 1; Gauge gauge = 5; Sum sum = 7; Histogram histogram = 9; }
  message Gauge { repeated NumberDataPoint data_points = 1; }
  message Sum { repeated NumberDataPoint data_points = 1; int32 aggregation_temporality = 2; bool is_monotonic = 3; }
  message Histogram { repeated HistogramDataPoint data_points = 1; int32 aggregation_temporality = 2; }
  message NumberDataPoint { repeated KeyValue attributes = 7; oneof value { double as_double = 4; sfixed64 as_int = 6; } }
  message HistogramDataPoint {
    repeated KeyValue attributes = 9; fixed64 count = 4; double sum = 5;
    repeated fixed64 bucket_counts = 6; repeated double explicit_bounds = 7;
  }`
const { root } = protobuf.parse(TRACES + METRICS)

/** A collector of OpenTelemetry that keeps what arrives. */
export async function startTestCollector(): Promise<TestCollector> {
  const bodies: Buffer[] = []
  const arrived = { spans: [] as ArrivedSpan[], metrics: [] as ArrivedMetric[], resource: {} }
  const requests: TestCollector['requests'] = []
  let how: number | 'nothing' = 200

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { url = '', headers } = request
    requests.push({ path: url, headers })
    if (how === 'nothing') return
    if (how !== 200) return response.writeHead(how).end()
    const sent = Buffer.concat(chunks)
    const body = headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent
    bodies.push(body)
    if (url === '/v1/traces') take(decoded('ExportTraceServiceRequest', body), arrived)
    else arrived.metrics.push(...metricsIn(decoded('ExportMetricsServiceRequest', body)))
    return response.writeHead(200).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get spans() {
      return arrived.spans
    },
    get metrics() {
      return arrived.metrics
    },
    get resource() {
      return arrived.resource
    },
    bytes: () => Buffer.concat(bodies),
    requests,
    answer: (next) => {
      how = next
    },
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** The setting of a server that reports to an address, soon after each span. */
export function settingFor(url: string, env: Record<string, string> = {}): TelemetrySetting {
  const setting = readTelemetrySetting({
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_BSP_SCHEDULE_DELAY: '100',
    OTEL_METRIC_EXPORT_INTERVAL: '100',
    ...env,
  })
  if (setting === undefined) throw new Error('No collector is set')
  return setting
}

interface KeyValue {
  key: string
  value: Record<string, unknown>
}

interface Decoded {
  resourceSpans: {
    resource: { attributes: KeyValue[] }
    scopeSpans: {
      spans: (Omit<ArrivedSpan, 'attributes' | 'status'> & {
        attributes?: KeyValue[]
        status?: { code: number }
        startTimeUnixNano: string
        endTimeUnixNano: string
      })[]
    }[]
  }[]
  resourceMetrics: { scopeMetrics: { metrics: ArrivedMetric[] }[] }[]
}

function decoded(name: string, body: Buffer): Decoded {
  const type = root.lookupType(name)
  const options = { longs: Number, bytes: String, arrays: true, objects: true }
  return type.toObject(type.decode(body), options) as Decoded
}

function take({ resourceSpans }: Decoded, into: { spans: ArrivedSpan[]; resource: object }): void {
  for (const { resource, scopeSpans } of resourceSpans) {
    into.resource = attributesOf(resource.attributes)
    for (const span of scopeSpans.flatMap(({ spans }) => spans))
      into.spans.push({
        traceId: hex(span.traceId),
        spanId: hex(span.spanId),
        parentSpanId: hex(span.parentSpanId),
        name: span.name,
        kind: span.kind,
        attributes: attributesOf(span.attributes),
        status: span.status?.code ?? 0,
        ms: (Number(span.endTimeUnixNano) - Number(span.startTimeUnixNano)) / 1e6,
      })
  }
}

function metricsIn({ resourceMetrics }: Decoded): ArrivedMetric[] {
  const metrics = resourceMetrics.flatMap(({ scopeMetrics }) =>
    scopeMetrics.flatMap(({ metrics: all }) => all),
  )
  for (const { sum, gauge, histogram } of metrics)
    for (const point of [sum, gauge, histogram].flatMap((kind): ArrivedPoint[] => kind?.dataPoints ?? []))
      point.attributes = attributesOf(point.attributes as unknown as KeyValue[])
  return metrics
}

function hex(base64: string | undefined): string {
  return Buffer.from(base64 ?? '', 'base64').toString('hex')
}

function attributesOf(pairs: readonly KeyValue[] = []): Record<string, unknown> {
  return Object.fromEntries(pairs.map(({ key, value }) => [key, Object.values(value)[0]]))
}
