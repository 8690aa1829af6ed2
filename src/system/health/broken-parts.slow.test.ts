import { readdirSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { newId } from '../../ids.ts'
import { findBrokenParts } from '../../stores/trace-db/broken-parts.ts'
import { openTestApp } from '../../test-app.ts'
import { documentsOf, replyOf, useTestServer } from '../../testing.ts'
import { finishedCall } from '../../trace/test-calls.ts'

const PROJECT = 'broken/parts'

/** Writes calls one after the other, and then truncates the files that hold them. */
async function breakCalls(folder: string): Promise<void> {
  await using opened = await openTestApp(folder)
  for (let count = 0; count < 5; count++) {
    const response = await opened.app.request(`/v2/${PROJECT}/calls/complete`, {
      method: 'POST',
      headers: { authorization: 'Bearer key' },
      body: JSON.stringify({ batch: [finishedCall({ id: newId() })] }),
    })
    expect(response.status).toBe(200)
  }
  const found = opened.stores.traces.query<{ path: string }>({
    sql: `SELECT path FROM system.parts WHERE database = currentDatabase() AND table = 'calls'`,
    params: {},
  })
  const paths: string[] = []
  for await (const { path } of found) paths.push(path)
  expect(paths).not.toEqual([])
  await opened[Symbol.asyncDispose]()
  for (const path of paths) for (const file of filesIn(path)) truncateSync(file, statSync(file).size >> 1)
}

function filesIn(path: string): string[] {
  return readdirSync(path).map((name) => join(path, name))
}

const server = useTestServer({ prepare: breakCalls })

describe('a data folder in which all calls are broken', () => {
  it('is degraded at GET /health, which names the table and no path', async () => {
    const calls = await server.post('/calls/stream_query', { project_id: PROJECT })
    expect(await documentsOf(calls)).toEqual([])
    const health = await replyOf(await server.request('/health'))
    expect(health).toMatchObject({
      status: 'degraded',
      reason: expect.stringMatching(/^trace_db: \d+ parts could not be read, so rows are missing from calls/),
      stores: { trace_db: { ok: true, warning: expect.stringContaining('calls') } },
    })
    expect(JSON.stringify(health)).not.toContain('detached')
  })

  it('is counted at GET /metrics', async () => {
    const text = await (await server.request('/metrics')).text()
    const count = Number(/^heddle_trace_parts_broken\{table="calls"\} (\d+)$/m.exec(text)?.[1])
    expect(count).toBe(server.stores.brokenParts.length)
    expect(count).toBeGreaterThan(0)
  })

  it('is an error in the log, with the table, the part and where its files are', async () => {
    const logged: unknown[] = []
    const broken = await findBrokenParts(server.stores.traces, {
      error: (fields: unknown) => logged.push(fields),
    })
    expect(broken).toEqual(server.stores.brokenParts)
    expect(logged[0]).toEqual({
      table: 'calls',
      part: expect.stringMatching(/^broken-on-start_all_/),
      path: expect.stringMatching(/\/detached\/broken-on-start_all_/),
    })
  })

  it('takes new calls', async () => {
    const batch = [finishedCall()]
    expect((await server.post(`/v2/${PROJECT}/calls/complete`, { batch })).status).toBe(200)
    const calls = await server.post('/calls/stream_query', { project_id: PROJECT })
    expect(await documentsOf(calls)).toHaveLength(1)
  })
})

describe('findBrokenParts', () => {
  const traces = (detached: string[], active: string[]) => ({
    ...server.stores.traces,
    async *query<Row>({ sql }: { sql: string }) {
      const names = sql.includes('detached_parts') ? detached : active
      yield* names.map((name) => ({ table: 'calls', name, path: name })) as Row[]
    },
  })
  const namesOf = async (detached: string[], active: string[]) =>
    (await findBrokenParts(traces(detached, active), { error: () => undefined })).map(({ name }) => name)

  it('does not count a part whose blocks are all in others', async () => {
    const merged = ['broken-on-start_all_2_5_1']
    expect(await namesOf(merged, ['all_2_2_0', 'all_3_4_1', 'all_5_5_0'])).toEqual([])
    expect(await namesOf(merged, ['all_1_9_2'])).toEqual([])
    expect(await namesOf(merged, ['all_2_2_0', 'all_4_5_1'])).toEqual(merged)
    expect(await namesOf(merged, ['other_1_9_2'])).toEqual(merged)
    expect(await namesOf(merged, [])).toEqual(merged)
  })
})
