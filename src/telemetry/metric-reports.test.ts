import { describe, expect, it, vi } from 'vitest'
import { createLog } from '../log.ts'
import { familiesOf } from '../system/metrics/families.ts'
import { SILENT } from '../test-log.ts'
import { useTestServer } from '../testing.ts'
import { openCollector } from './collector.ts'
import { settingFor, startTestCollector } from './test-collector.ts'

const WAIT = { timeout: 60_000 }
const server = useTestServer({})

/** What `/metrics` says of a metric with labels. */
async function shown(line: RegExp): Promise<number> {
  const text = await (await server.request('/metrics')).text()
  return Number(line.exec(text)?.[1])
}

describe('metrics for a collector', () => {
  it('are those of GET /metrics, of the same moment and with the same names', async () => {
    await using collector = await startTestCollector()
    await using telemetry = openCollector(settingFor(collector.url), SILENT)
    for (let sent = 0; sent < 3; sent++) await server.request('/version')
    const count = await shown(
      /heddle_http_request_duration_seconds_count\{operation="version",status="2xx"\} (\d+)/,
    )
    expect(count).toBeGreaterThanOrEqual(3)
    await using _reports = telemetry.reportMetrics(server.metricFamilies)
    const durations = await vi.waitFor(() => {
      const found = collector.metrics.find(({ name }) => name === 'heddle_http_request_duration_seconds')
      if (found?.histogram === undefined) throw new Error('No histogram has arrived')
      return found.histogram.dataPoints
    }, WAIT)
    const version = durations.find(({ attributes }) => attributes['operation'] === 'version')
    expect(version).toMatchObject({ count, attributes: { operation: 'version', status: '2xx' } })
    expect(version?.bucketCounts).toHaveLength((version?.explicitBounds.length ?? 0) + 1)
    expect(version?.bucketCounts.reduce((sum, each) => sum + each, 0)).toBe(count)
    const unexpected = collector.metrics.find(({ name }) => name === 'heddle_unexpected_errors_total')
    expect(unexpected?.sum).toMatchObject({ isMonotonic: true, dataPoints: [{ asDouble: 0 }] })
    const detached = collector.metrics.find(({ name }) => name === 'heddle_tables_detached')
    expect(detached?.gauge?.dataPoints).toMatchObject([{ asDouble: 0 }])
    expect(collector.requests.at(-1)?.path).toBe('/v1/metrics')
  })

  it('are sent once more at a stop', async () => {
    await using collector = await startTestCollector()
    await using telemetry = openCollector(
      settingFor(collector.url, { OTEL_METRIC_EXPORT_INTERVAL: '3600000', OTEL_TRACES_EXPORTER: 'none' }),
      SILENT,
      60_000,
    )
    expect(telemetry.isOn).toBe(false)
    const reports = telemetry.reportMetrics(server.metricFamilies)
    expect(collector.requests).toEqual([])
    await reports[Symbol.asyncDispose]()
    expect(collector.requests).toHaveLength(1)
  })

  it('get one line in the log while they cannot be read or sent', async () => {
    await using collector = await startTestCollector()
    const log = createLog({ logLevel: 'silent', logFormat: 'json' })
    const warned = vi.spyOn(log, 'warn')
    await using telemetry = openCollector(settingFor(collector.url), log)
    const read = vi.fn().mockRejectedValue(new Error('the database is away'))
    await using _reports = telemetry.reportMetrics(read)
    await vi.waitFor(() => expect(read.mock.calls.length).toBeGreaterThan(2), WAIT)
    expect(warned).toHaveBeenCalledTimes(1)
  })
})

describe('familiesOf', () => {
  it('leaves out summaries, and values that are no numbers', () => {
    const common = { help: '', aggregator: 'sum' as const, collect: () => undefined }
    const families = familiesOf([
      { ...common, name: 'quantiles', type: 'summary', values: [{ labels: { quantile: 0.5 }, value: 1 }] },
      { ...common, name: 'lag', type: 'gauge', values: [{ labels: {}, value: Number.NaN }] },
    ])
    expect(families).toEqual([{ name: 'lag', help: '', type: 'gauge', points: [] }])
  })
})
