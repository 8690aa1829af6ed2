import { describe, expect, it } from 'vitest'
import { newId } from '../../ids.ts'
import { countWrites } from '../../stores/trace-db/counted.ts'
import { useTestServer } from '../../testing.ts'
import { NO_UNEXPECTED_ERRORS } from '../../unexpected-errors.ts'
import { createMetrics } from './service.ts'

const server = useTestServer({})

async function metrics(): Promise<string> {
  const response = await server.request('/metrics', { headers: { authorization: '' } })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=/)
  return response.text()
}

function sampleOf(text: string, sample: string): number {
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${sample} `))
  return Number(line?.slice(sample.length) ?? 0)
}

describe('GET /metrics', () => {
  it('200 without a key: the process, requests by operation and class of status, rows by table', async () => {
    const before = await metrics()
    const id = newId()
    const project_id = server.newProject()
    const start = { project_id, id, trace_id: id, op_name: 'op', started_at: '2026-01-01T00:00:00Z' }
    expect(
      (await server.post('/call/start', { start: { ...start, attributes: {}, inputs: {} } })).status,
    ).toBe(200)
    expect((await server.post('/call/start', { start: 1 })).status).toBe(422)
    const after = await metrics()
    const gain = (sample: string) => sampleOf(after, sample) - sampleOf(before, sample)
    const requests = (status: string) =>
      `heddle_http_request_duration_seconds_count{operation="call_start",status="${status}"}`
    expect(gain(requests('2xx'))).toBe(1)
    expect(gain(requests('4xx'))).toBe(1)
    expect(gain('heddle_writes_accepted_total{table="calls"}')).toBe(1)
    expect(gain('heddle_writes_applied_total{table="calls"}')).toBe(1)
    expect(gain('heddle_writes_rejected_total{table="calls"}')).toBe(0)
    expect(sampleOf(after, 'heddle_writes_pending{table="calls"}')).toBe(0)
    expect(sampleOf(after, 'process_resident_memory_bytes')).toBeGreaterThan(0)
    expect(after).toContain('# HELP nodejs_eventloop_lag_p99_seconds 99th percentile of the lag')
  })

  it('accepted rows are applied, pending or rejected at any moment, and readers that meet see one moment', async () => {
    const fates: PromiseWithResolvers<void>[] = []
    const traces = countWrites({
      ...server.stores.traces,
      insert() {
        const fate = Promise.withResolvers<void>()
        fates.push(fate)
        return fate.promise
      },
    })
    const { text } = createMetrics({
      traces,
      brokenParts: [],
      jobs: { countStates: async () => [{ state: 'queued', count: 3 }] },
      unexpected: NO_UNEXPECTED_ERRORS,
      blobSweep: { counts: () => ({ deleted: 0, failed: 0 }) },
      redaction: { totals: () => [{ match: 'email', action: 'mask', hits: 5 }] },
    })
    const inserts = [1, 2, 4].map((count) => traces.insert('calls', new Array(count).fill({})))
    const settled = Promise.allSettled(inserts)
    fates[0]?.resolve()
    fates[1]?.reject(new Error('refused'))
    await Promise.allSettled(inserts.slice(0, 2))
    for (const { body } of await Promise.all([text(), text()])) {
      const samples = String(body)
      expect(sampleOf(samples, 'heddle_writes_accepted_total{table="calls"}')).toBe(7)
      expect(sampleOf(samples, 'heddle_writes_applied_total{table="calls"}')).toBe(1)
      expect(sampleOf(samples, 'heddle_writes_rejected_total{table="calls"}')).toBe(2)
      expect(sampleOf(samples, 'heddle_writes_pending{table="calls"}')).toBe(4)
      expect(sampleOf(samples, 'heddle_training_jobs{state="queued"}')).toBe(3)
      expect(sampleOf(samples, 'heddle_redaction_hits_total{match="email",action="mask"}')).toBe(5)
    }
    fates[2]?.resolve()
    await settled
  })
})
