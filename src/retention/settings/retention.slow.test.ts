import { describe, expect, it } from 'vitest'
import { type Fields, replyOf, useTestServer } from '../../testing.ts'
import { finishedCall, writeCalls } from '../../trace/test-calls.ts'
import { tablesWith } from '../test-traces-of.ts'

const server = useTestServer({ recentCallsBytes: 1024 * 1024 })
const NO_SIGNAL = new AbortController().signal
const DAY_MS = 86_400_000

async function ok(path: string, body: unknown): Promise<Fields> {
  return replyOf(await server.post(path, body))
}

function put(project: string, days: Fields, query = ''): Promise<Response> {
  return server.request(`/v2/${project}/retention${query}`, { method: 'PUT', body: JSON.stringify(days) })
}

const NONE = {
  payloads: null,
  calls: null,
  files: null,
  trajectories: null,
  run_metrics: null,
  run_logs: null,
}

function callOf(daysAgo: number, text: string): Fields & { id: string } {
  const at = new Date(Date.now() - daysAgo * DAY_MS).toISOString()
  return finishedCall({
    started_at: at,
    ended_at: at,
    inputs: { text },
    output: text,
    summary: { tokens: 3 },
    attributes: { team: 'a' },
  })
}

describe('GET and PUT /v2/{entity}/{project}/retention, and POST /project/ttl_settings/update', () => {
  it('200 with the days of each kind; the trace API reads and sets those of calls', async () => {
    const project_id = server.newProject()
    expect(await replyOf(await server.request(`/v2/${project_id}/retention`))).toEqual({
      ...NONE,
      version: expect.any(String),
    })
    expect(await replyOf(await put(project_id, { payloads: 7, run_logs: 3 }))).toEqual({
      ...NONE,
      payloads: 7,
      run_logs: 3,
      version: expect.any(String),
    })
    const set = { project_id, retention_days: 30 }
    expect(await ok('/project/ttl_settings/update', set)).toEqual({ retention_days: 30 })
    expect(await ok('/project/ttl_settings/read', { project_id })).toEqual({ retention_days: 30 })
    expect(await replyOf(await server.request(`/v2/${project_id}/retention`))).toMatchObject({
      payloads: 7,
      calls: 30,
    })
    expect(await ok('/project/ttl_settings/update', { project_id })).toEqual({ retention_days: null })
    const audit = await replyOf(await server.request('/v1/accounts/audit?action=retention.set'))
    expect(JSON.stringify(audit)).toContain(project_id)
  })

  it('409 for another version than the stored one, which stays', async () => {
    const project = server.newProject()
    const read = async () => replyOf(await server.request(`/v2/${project}/retention`))
    const { version } = await read()
    expect((await put(project, { calls: 365 }, `?if_version=${version}`)).status).toBe(200)
    const refused = await put(project, { calls: 7, run_logs: 30 }, `?if_version=${version}`)
    expect(refused.status).toBe(409)
    expect(await read()).toMatchObject({ calls: 365, run_logs: null })
  })

  it('422 for no days, and for less than one', async () => {
    expect((await put(server.newProject(), { calls: 0 })).status).toBe(422)
    const body = { project_id: server.newProject(), retention_days: -1 }
    expect((await server.post('/project/ttl_settings/update', body)).status).toBe(422)
  })
})

describe('PUT /v2/{entity}/{project}/retention, and then the upkeep', () => {
  it('200: payloads go first and summaries stay, then whole calls; other projects keep all', async () => {
    const { traces } = server.stores
    const [project_id, other] = [server.newProject(), server.newProject()]
    const [old, young, kept] = [callOf(20, 'olderpayload'), callOf(1, 'younger'), callOf(20, 'otherproject')]
    await writeCalls(server, project_id, [old, young])
    await writeCalls(server, other, [kept])
    await put(project_id, { payloads: 10 })
    await server.upkeep.run(NO_SIGNAL)
    expect(await ok('/call/read', { project_id, id: old.id })).toMatchObject({
      call: { inputs: {}, output: null, summary: { tokens: 3 }, attributes: { team: 'a' }, op_name: 'op' },
    })
    expect(await tablesWith(traces, 'olderpayload')).toEqual([])
    expect(await ok('/call/read', { project_id, id: young.id })).toMatchObject({
      call: { output: 'younger' },
    })

    // The end came in a row of its own, and so did a name.
    const start = callOf(30, 'startalone')
    const { ended_at: _, output: _output, summary: _summary, ...started } = start
    await ok('/call/start', { start: { ...started, project_id } })
    const end = {
      project_id,
      id: start.id,
      ended_at: new Date().toISOString(),
      summary: {},
      output: 'endalone',
    }
    await ok('/call/end', { end })
    await ok('/call/update', { project_id, call_id: start.id, display_name: 'namealone' })
    await put(project_id, { calls: 10 })
    await server.upkeep.run(NO_SIGNAL)
    expect(await ok('/calls/query_stats', { project_id })).toMatchObject({ count: 1 })
    for (const text of ['startalone', 'endalone', 'namealone'])
      expect(await tablesWith(traces, text)).toEqual([])
    expect(await ok('/call/read', { project_id: other, id: kept.id })).toMatchObject({
      call: { output: 'otherproject' },
    })
  })
})
