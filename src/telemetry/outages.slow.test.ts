import { describe, expect, it, vi } from 'vitest'
import { createLog } from '../log.ts'
import type { Telemetry } from '../telemetry.ts'
import { useTestServer } from '../testing.ts'
import { openCollector } from './collector.ts'
import { settingFor, startTestCollector } from './test-collector.ts'

/** Nothing listens there: a port that only root may open. */
const NOWHERE = 'http://127.0.0.1:1'

/** A busy machine is slow. */
const WAIT = { timeout: 60_000 }

/** For the last reports of a stop that is to bring all of them. */
const AMPLE_MS = 60_000

/** What nothing may wait for: the time after which an export is given up. */
const EXPORT_MS = 9_000

function logged() {
  const log = createLog({ logLevel: 'silent', logFormat: 'json' })
  return { log, warned: vi.spyOn(log, 'warn'), informed: vi.spyOn(log, 'info') }
}

async function work(telemetry: Telemetry, times: number): Promise<void> {
  const start = { name: 'work', kind: 'server' as const, attributes: {} }
  for (let done = 0; done < times; done++) await telemetry.root(start, async () => undefined)
}

/** Of a disposal. */
async function msOf(telemetry: AsyncDisposable): Promise<number> {
  const began = performance.now()
  await telemetry[Symbol.asyncDispose]()
  return performance.now() - began
}

describe('a collector that is away', () => {
  const log = createLog({ logLevel: 'silent', logFormat: 'json' })
  const telemetry = openCollector(settingFor(NOWHERE), log)
  const server = useTestServer({ telemetry })

  it('fails no request, and gets one line in the log', async () => {
    const warned = vi.spyOn(log, 'warn')
    for (let round = 0; round < 5; round++) {
      const replies = await Promise.all(Array.from({ length: 20 }, () => server.request('/version')))
      expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]))
      await vi.waitFor(() => expect(warned).toHaveBeenCalledTimes(1), WAIT)
    }
    expect(warned.mock.calls[0]?.[0]).toMatchObject({ url: `${NOWHERE}/v1/traces` })
    expect(await msOf(telemetry)).toBeLessThan(EXPORT_MS)
  })
})

describe('a collector that takes everything and answers nothing', () => {
  it('holds up neither work nor a stop, and what does not fit is lost', async () => {
    await using collector = await startTestCollector()
    collector.answer('nothing')
    const { log, warned } = logged()
    const telemetry = openCollector(settingFor(collector.url, { OTEL_BSP_MAX_QUEUE_SIZE: '1000' }), log)
    const began = performance.now()
    await work(telemetry, 5_000)
    expect(performance.now() - began).toBeLessThan(EXPORT_MS)
    await using _reports = telemetry.reportMetrics(async () => [])
    expect(warned).toHaveBeenCalledTimes(1)
    expect(warned.mock.calls[0]?.[0]).toMatchObject({ reason: '1000 spans wait already' })
    const ms = await msOf(telemetry)
    expect(ms).toBeGreaterThan(1_000)
    expect(ms).toBeLessThan(EXPORT_MS)
  })

  it('has each export given up after its time', async () => {
    await using collector = await startTestCollector()
    collector.answer('nothing')
    const { log, warned } = logged()
    await using telemetry = openCollector(
      settingFor(collector.url, { OTEL_EXPORTER_OTLP_TIMEOUT: '200' }),
      log,
    )
    await work(telemetry, 1)
    await vi.waitFor(() => expect(warned).toHaveBeenCalledTimes(1), WAIT)
    expect(warned.mock.calls[0]?.[0]).toMatchObject({ reason: 'no answer within 0.2 s' })
  })
})

describe('a collector that comes back', () => {
  it('gets what it was too busy for, and the log says that it is back with what was lost', async () => {
    await using collector = await startTestCollector()
    const { log, warned, informed } = logged()
    await using telemetry = openCollector(settingFor(collector.url), log)
    collector.answer(503)
    await work(telemetry, 3)
    await vi.waitFor(() => expect(collector.requests.length).toBeGreaterThan(0), WAIT)
    collector.answer(200)
    await vi.waitFor(() => expect(collector.spans).toHaveLength(3), WAIT)
    expect(warned).not.toHaveBeenCalled()

    collector.answer(401)
    await work(telemetry, 2)
    await vi.waitFor(() => expect(warned).toHaveBeenCalledTimes(1), WAIT)
    expect(warned.mock.calls[0]?.[0]).toMatchObject({ reason: 'it answers 401' })
    collector.answer(200)
    await work(telemetry, 1)
    await vi.waitFor(
      () =>
        expect(informed).toHaveBeenCalledWith(
          { url: `${collector.url}/v1/traces`, lost: 2 },
          'spans of this server reach the collector again',
        ),
      WAIT,
    )
  })

  it('gets the last spans of a server that stops', async () => {
    await using collector = await startTestCollector()
    const { log } = logged()
    const telemetry = openCollector(
      settingFor(collector.url, { OTEL_BSP_SCHEDULE_DELAY: '60000' }),
      log,
      AMPLE_MS,
    )
    await work(telemetry, 1_200)
    await telemetry[Symbol.asyncDispose]()
    expect(collector.spans).toHaveLength(1_200)
  })
})

describe('samplers', () => {
  it.each([
    ['always_off', '1', 0],
    ['traceidratio', '0', 0],
    ['parentbased_traceidratio', '1', 10],
    ['always_on', '1', 10],
  ])('%s with %s records %d of 10', async (name, argument, count) => {
    await using collector = await startTestCollector()
    const env = { OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: argument }
    const telemetry = openCollector(settingFor(collector.url, env), logged().log, AMPLE_MS)
    await work(telemetry, 10)
    await telemetry[Symbol.asyncDispose]()
    expect(collector.spans).toHaveLength(count)
  })
})
