import { type HrTime, ValueType } from '@opentelemetry/api'
import { millisToHrTime } from '@opentelemetry/core'
import { ProtobufMetricsSerializer } from '@opentelemetry/otlp-transformer'
import type { Resource } from '@opentelemetry/resources'
import { AggregationTemporality, DataPointType, type MetricData } from '@opentelemetry/sdk-metrics'
import { messageOf } from '../errors.ts'
import type { Log } from '../log.ts'
import type { OtlpDestination } from '../settings/telemetry-setting.ts'
import type { HistogramPoint, MetricFamily } from '../telemetry.ts'
import { VERSION } from '../version.ts'
import { createDeliveries } from './deliveries.ts'
import { lastReport } from './last-report.ts'
import { createOtlpSender } from './otlp-sender.ts'

export interface MetricReportsOptions {
  destination: OtlpDestination
  resource: Resource
  intervalMs: number
  log: Log
  /** How long a stop waits for the last one. */
  stopMs: number
}

/** Sends what `read` returns from time to time until disposal, which sends it once more. */
export interface MetricReports {
  start(read: () => Promise<MetricFamily[]>): AsyncDisposable
}

export function createMetricReports({
  destination,
  resource,
  intervalMs,
  log,
  stopMs,
}: MetricReportsOptions): MetricReports {
  const startTime = millisToHrTime(Date.now())

  return {
    start(read) {
      const stopping = new AbortController()
      const sender = createOtlpSender(destination, stopping.signal)
      const deliveries = createDeliveries(log, 'metrics of this server', destination.url)
      let reporting: Promise<void> | undefined

      async function send(): Promise<void> {
        const families = await read()
        const times = { startTime, endTime: millisToHrTime(Date.now()) }
        const metrics = families.map((family) => dataOf(family, times))
        const scopeMetrics = [{ scope: { name: 'heddle', version: VERSION }, metrics }]
        await sender.send(
          ProtobufMetricsSerializer.serializeRequest({ resource, scopeMetrics }) ?? new Uint8Array(),
        )
      }

      function report(): Promise<void> {
        reporting ??= send()
          .then(deliveries.delivered, (error: unknown) => deliveries.lost(1, messageOf(error)))
          .finally(() => {
            reporting = undefined
          })
        return reporting
      }

      const timer = setInterval(() => void report(), intervalMs).unref()
      return {
        async [Symbol.asyncDispose]() {
          clearInterval(timer)
          await lastReport(Promise.resolve(reporting).then(report), { stopping, stopMs })
          await sender[Symbol.asyncDispose]()
        },
      }
    },
  }
}

interface Times {
  startTime: HrTime
  endTime: HrTime
}

function dataOf(family: MetricFamily, times: Times): MetricData {
  const descriptor = {
    name: family.name,
    description: family.help,
    unit: family.name.includes('_seconds') ? 's' : family.name.includes('_bytes') ? 'By' : '',
    valueType: ValueType.DOUBLE,
  }
  const common = { descriptor, aggregationTemporality: AggregationTemporality.CUMULATIVE }
  if (family.type === 'histogram')
    return {
      ...common,
      dataPointType: DataPointType.HISTOGRAM,
      dataPoints: family.points.map((point) => ({
        ...times,
        attributes: point.labels,
        value: histogramOf(point),
      })),
    }
  const dataPoints = family.points.map(({ labels, value }) => ({ ...times, attributes: labels, value }))
  return family.type === 'counter'
    ? { ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }
    : { ...common, dataPointType: DataPointType.GAUGE, dataPoints }
}

/** Prometheus counts what is at most a bound, OTLP what is between two. */
function histogramOf({ bounds, cumulative, count, sum }: HistogramPoint) {
  const counts = [...cumulative, count].map((upTo, index, all) => upTo - (all[index - 1] ?? 0))
  return { buckets: { boundaries: bounds, counts }, count, sum }
}
