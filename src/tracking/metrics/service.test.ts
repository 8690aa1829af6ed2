import { beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../ids.ts'
import type { TraceDb } from '../../stores/trace-db/port.ts'
import { useTestServer } from '../../testing.ts'
import { createMetrics, type Metrics, ROWS_PER_INSERT, type RunKey } from './service.ts'

const server = useTestServer()

describe('createMetrics', () => {
  const sizes: number[] = []
  let metrics: Metrics
  beforeAll(() => {
    const { traces } = server.stores
    const recording = {
      ...traces,
      insert(table: string, rows: readonly object[]) {
        sizes.push(rows.length)
        return traces.insert(table, rows)
      },
    }
    metrics = createMetrics({ traces: recording })
  })

  function newRun(): RunKey {
    sizes.length = 0
    return { project_id: server.newProject(), run_id: newId() }
  }

  const fallbackTime = '2026-01-01T00:00:00.000000Z'

  it('writes a long history in parts, and the same again changes nothing', async () => {
    const run = newRun()
    const values = Object.fromEntries(Array.from({ length: 3_000 }, (_, key) => [`k${key}`, key]))
    const content = [
      ...Array.from({ length: 5 }, (_, step) => JSON.stringify({ ...values, _step: step, last: step })),
      JSON.stringify({ _step: 4, last: 'newest' }),
    ]
    for (let times = 0; times < 2; times++) {
      expect(await metrics.write(run, { stream: 'history', offset: 0, content, fallbackTime })).toEqual({
        highestStep: 4,
        unread: undefined,
      })
      expect(await metrics.keys(run, 'history')).toHaveLength(3_001)
      const keys = ['k2999', 'last']
      expect(await metrics.sample(run, { stream: 'history', keys, samples: 10 })).toEqual(
        [0, 1, 2, 3, '"newest"'].map(
          (last, step) => `{"k2999":2999,"last":${last},"_step":${step},"_timestamp":1767225600}`,
        ),
      )
    }
    expect(Math.max(...sizes)).toBe(ROWS_PER_INSERT)
  })

  it('writes keys that repeat a long name in parts of some megabytes', async () => {
    const run = newRun()
    const nested = Object.fromEntries(Array.from({ length: 20 }, (_, key) => [key, key]))
    const content = [JSON.stringify({ ['x'.repeat(500_000)]: nested })]
    await metrics.write(run, { stream: 'history', offset: 0, content, fallbackTime })
    expect(await metrics.keys(run, 'history')).toHaveLength(20)
    expect(Math.max(...sizes)).toBeLessThan(18)
  })

  it('writes a long log in parts', async () => {
    const run = newRun()
    const content = Array.from({ length: 12_000 }, (_, line) => `line ${line}`)
    await metrics.writeLog(run, { offset: 3, content, fallbackTime })
    expect(await metrics.logLines(run, { lineFrom: 12_002, lineBefore: 20_000, limit: 10 })).toEqual([
      { line: 12_002, text: 'line 11999' },
    ])
    expect(sizes.length).toBeGreaterThan(1)
  })
})

it('refuses lines of more characters than an answer holds, without reading the rest', async () => {
  let read = 0
  async function* query() {
    for (; read < 1_000; read++) {
      const json = JSON.stringify('x'.repeat(1024 * 1024))
      yield { step: read, time: '2026-01-01T00:00:00.000000Z', items: [['text', 0, json]] }
    }
  }
  const metrics = createMetrics({ traces: { query } as unknown as TraceDb })
  const wanted = { stream: 'history' as const, keys: [], samples: 1_000 }
  const run = { project_id: 'a/b', run_id: 'r' }
  await expect(metrics.sample(run, wanted)).rejects.toMatchObject({ status: 413 })
  expect(read).toBeLessThan(40)
})
