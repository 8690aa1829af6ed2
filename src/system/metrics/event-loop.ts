import { type Histogram, monitorEventLoopDelay } from 'node:perf_hooks'
import { Gauge, type Registry } from '@prometheus-io/client'

/**
 * How often the event loop is sampled: often enough that what holds it for a tenth of a second is seen, and a
 * fifteenth of a percent of a core on an idle server, where 10 ms take half a percent.
 */
const INTERVAL_MS = 100

const NANOSECONDS = 1e9

/** By the names that dashboards for Node know. */
const READINGS: Record<string, { help: string; of: (delays: Histogram) => number }> = {
  min: { help: 'Shortest', of: ({ min }) => lagOf(min) },
  max: { help: 'Longest', of: ({ max }) => lagOf(max) },
  mean: { help: 'Mean', of: ({ mean }) => lagOf(mean) },
  stddev: { help: 'Standard deviation of the', of: ({ stddev }) => stddev / NANOSECONDS },
  p50: { help: 'Median of the', of: (delays) => lagOf(delays.percentile(50)) },
  p90: { help: '90th percentile of the', of: (delays) => lagOf(delays.percentile(90)) },
  p99: { help: '99th percentile of the', of: (delays) => lagOf(delays.percentile(99)) },
}

/** The seconds that a sample was late, of a delay in nanoseconds, which Node counts with the interval. */
function lagOf(delay: number): number {
  return Math.max(0, delay / NANOSECONDS - INTERVAL_MS / 1000)
}

/** Measures how late the event loop is at its timers. */
export function watchEventLoop(): Histogram {
  const delays = monitorEventLoopDelay({ resolution: INTERVAL_MS })
  delays.enable()
  return delays
}

/** How late the event loop was since the last reading; in place of the library's gauges, which have Node's delays. */
export function eventLoopMetrics(registry: Registry, delays: Histogram) {
  const gauges = Object.entries(READINGS).map(([reading, { help, of }]) => {
    const name = `nodejs_eventloop_lag_${reading}_seconds`
    registry.removeSingleMetric(name)
    const about = `${help} lag of the event loop since the last reading, in seconds`
    return { gauge: new Gauge({ name, help: about, registers: [registry] }), of }
  })

  return {
    show(): void {
      // Another reader was here less than a sample ago.
      if (delays.count === 0) return
      for (const { gauge, of } of gauges) gauge.set(of(delays))
      delays.reset()
    },
  }
}
