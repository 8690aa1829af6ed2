import { createHistogram } from 'node:perf_hooks'
import { collectDefaultMetrics, Registry } from '@prometheus-io/client'
import { expect, it } from 'vitest'
import { eventLoopMetrics } from './event-loop.ts'

it('shows how late the event loop was, without the time between two looks, and keeps it until the next look', async () => {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const delays = createHistogram()
  const metrics = eventLoopMetrics(registry, delays)
  const lag = async (reading: string): Promise<number> => {
    const found = await registry.getSingleMetric(`nodejs_eventloop_lag_${reading}_seconds`)?.get()
    return found?.values[0]?.value ?? Number.NaN
  }
  for (const ms of [99.5, 100, 101, 101, 400]) delays.record(ms * 1e6)
  metrics.show()
  metrics.show()
  // A timer may also be early, and a histogram is exact to a thousandth.
  expect(await lag('min')).toBe(0)
  expect(await lag('p50')).toBeCloseTo(0.001, 3)
  expect(await lag('p99')).toBeCloseTo(0.3, 2)
  expect(await lag('max')).toBeCloseTo(0.3, 2)
  expect(await lag('mean')).toBeCloseTo(0.0603, 2)
  await registry.metrics()
  expect(await lag('max')).toBeCloseTo(0.3, 2)
})
