import { AsyncLocalStorage } from 'node:async_hooks'
import { hostname } from 'node:os'
import {
  type Span as ApiSpan,
  type Context,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { type ReadableSpan, TracerProvider } from '@opentelemetry/sdk-trace'
import { messageOf } from '../errors.ts'
import { newId } from '../ids.ts'
import type { Log } from '../log.ts'
import type { OtlpDestination, TelemetrySetting } from '../settings/telemetry-setting.ts'
import { errorTypeOf, NO_SPAN, type Span, type SpanStart, type Telemetry } from '../telemetry.ts'
import { VERSION } from '../version.ts'
import { createDeliveries } from './deliveries.ts'
import { lastReport, STOP_MS } from './last-report.ts'
import { createMetricReports } from './metric-reports.ts'
import { createOtlpSender, isExport } from './otlp-sender.ts'
import { samplerOf } from './samplers.ts'
import { createSpanBatches } from './span-batches.ts'

/** Spans in one request to the collector, as the specification has it. */
const BATCH_MAX = 512

/** Characters of what a collector says that the log repeats. */
const WORDS_MAX = 300

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, consumer: SpanKind.CONSUMER }

const W3C = new W3CTraceContextPropagator()

/**
 * Reports to a collector of OpenTelemetry by OTLP over HTTP. Nothing here is global: several may be open in one
 * process.
 * @param stopMs how long a stop waits for the last reports of a kind
 */
export function openCollector(setting: TelemetrySetting, log: Log, stopMs = STOP_MS): Telemetry {
  const resource = resourceFromAttributes({
    'service.version': VERSION,
    'service.instance.id': newId(),
    'host.name': hostname(),
    ...setting.resource,
    'service.name': setting.serviceName,
  })
  const stopping = new AbortController()
  const { traces, metrics } = setting
  const spans =
    traces === undefined ? undefined : createSpans(setting, traces, resource, { log, stopping, stopMs })
  const reports =
    metrics === undefined
      ? undefined
      : createMetricReports({
          destination: metrics,
          resource,
          intervalMs: setting.metricIntervalMs,
          log,
          stopMs,
        })

  return {
    isOn: spans !== undefined,
    root: spans?.root ?? ((_start, work) => work(NO_SPAN)),
    child: spans?.child ?? (() => NO_SPAN),
    reportMetrics: (read) => reports?.start(read) ?? { async [Symbol.asyncDispose]() {} },
    async [Symbol.asyncDispose]() {
      await spans?.[Symbol.asyncDispose]()
    },
  }
}

interface Spans extends Pick<Telemetry, 'root' | 'child'>, AsyncDisposable {}

function createSpans(
  { sampler, spanWaitMs, spansMax }: TelemetrySetting,
  destination: OtlpDestination,
  resource: ReturnType<typeof resourceFromAttributes>,
  { log, stopping, stopMs }: { log: Log; stopping: AbortController; stopMs: number },
): Spans {
  const sender = createOtlpSender(destination, stopping.signal)
  const deliveries = createDeliveries(log, 'spans of this server', destination.url)
  const batches = createSpanBatches({
    spansMax,
    batchMax: BATCH_MAX,
    waitMs: spanWaitMs,
    deliver: (batch) => deliver(batch),
    onFull: (count) => deliveries.lost(count, `${spansMax} spans wait already`),
  })
  const provider = new TracerProvider({ resource, sampler: samplerOf(sampler), spanProcessors: [batches] })
  const tracer = provider.getTracer('heddle', VERSION)
  /** Of the work in progress. Of its own, since a global one would be shared by all servers of a process. */
  const current = new AsyncLocalStorage<Context>()

  async function deliver(batch: ReadableSpan[]): Promise<void> {
    try {
      const reply = await sender.send(ProtobufTraceSerializer.serializeRequest(batch) ?? new Uint8Array())
      const refused = ProtobufTraceSerializer.deserializeResponse(reply).partialSuccess
      const count = Number(refused?.rejectedSpans ?? 0)
      if (count > 0) deliveries.lost(count, refused?.errorMessage?.slice(0, WORDS_MAX) ?? 'it refuses them')
      else deliveries.delivered()
    } catch (error) {
      deliveries.lost(batch.length, messageOf(error))
    }
  }

  function begin(start: SpanStart, parent: Context): { span: Span; context: Context } {
    const began = start.beganMsAgo === undefined ? undefined : Date.now() - start.beganMsAgo
    const options = {
      kind: KINDS[start.kind],
      attributes: start.attributes,
      ...(began !== undefined && { startTime: began }),
    }
    const recorded = tracer.startSpan(start.name, options, parent)
    const context = trace.setSpan(parent, recorded)
    return { context, span: spanOf(recorded, context) }
  }

  return {
    root(start, work, header) {
      if (isExport(header?.('user-agent'))) return work(NO_SPAN)
      const parent = header === undefined ? ROOT_CONTEXT : W3C.extract(ROOT_CONTEXT, header, READING)
      const { span, context } = begin(start, parent)
      return current.run(context, async () => {
        try {
          return await work(span)
        } catch (error) {
          span.fail(errorTypeOf(error))
          throw error
        } finally {
          span.end()
        }
      })
    },

    child(start) {
      const parent = current.getStore()
      if (parent === undefined) return NO_SPAN
      const within = trace.getSpan(parent)
      if (within?.isRecording() !== true) return { ...NO_SPAN, headers: () => headersOf(parent) }
      return begin(start, parent).span
    },

    async [Symbol.asyncDispose]() {
      await lastReport(provider.shutdown(), { stopping, stopMs })
      await sender[Symbol.asyncDispose]()
    },
  }
}

/** Reads headers of a request. */
const READING = {
  get: (header: (name: string) => string | undefined, name: string) => header(name),
  keys: () => [],
}

function headersOf(context: Context): Record<string, string> {
  const headers: Record<string, string> = {}
  W3C.inject(context, headers, {
    set: (carrier, name, value) => {
      carrier[name] = value
    },
  })
  return headers
}

function spanOf(recorded: ApiSpan, context: Context): Span {
  return {
    set: (attributes) => void recorded.setAttributes(attributes),
    fail: (errorType) => {
      recorded.setStatus({ code: SpanStatusCode.ERROR })
      recorded.setAttribute('error.type', errorType)
    },
    headers: () => headersOf(context),
    end: () => recorded.end(),
  }
}
