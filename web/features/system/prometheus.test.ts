import { expect, it } from 'vitest'
import { metricValue, requestsOf, samplesOf, totalOf, writesOf } from './prometheus.ts'

const TEXT = `# HELP heddle_writes_accepted_total Rows
# TYPE heddle_writes_accepted_total counter
heddle_writes_accepted_total{table="calls"} 10
heddle_writes_applied_total{table="calls"} 7
heddle_writes_pending{table="calls"} 2
heddle_writes_rejected_total{table="calls"} 1
heddle_writes_accepted_total{table="feedback"} 3
heddle_writes_applied_total{table="feedback"} 3
heddle_http_request_duration_seconds_sum{operation="health",status="2xx"} 0.5
heddle_http_request_duration_seconds_count{operation="health",status="2xx"} 4
heddle_http_request_duration_seconds_count{operation="health",status="5xx"} 1
heddle_http_request_duration_seconds_bucket{le="0.1",operation="health",status="2xx"} 4
odd{a="x\\"y"} 1e3
process_start_time_seconds 1.5
`

it('reads samples with their labels', () => {
  const samples = samplesOf(TEXT)
  expect(samples).toContainEqual({ name: 'odd', labels: { a: 'x"y' }, value: 1000 })
  expect(metricValue(samples, 'process_start_time_seconds')).toBe(1.5)
  expect(metricValue(samples, 'none')).toBeUndefined()
})

it('adds up to what was accepted', () => {
  const writes = writesOf(samplesOf(TEXT))
  expect(writes.map(({ table }) => table)).toEqual(['calls', 'feedback'])
  expect(totalOf(writes)).toEqual({ table: 'all', accepted: 13, applied: 10, pending: 2, rejected: 1 })
})

it('counts requests once, whatever their buckets', () => {
  expect(requestsOf(samplesOf(TEXT))).toEqual([{ operation: 'health', count: 5, failed: 1, meanMs: 100 }])
})
