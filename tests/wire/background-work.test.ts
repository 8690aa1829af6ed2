import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startServer, type WireServer } from './server.ts'
import { trainingClient } from './training-client.ts'
import { until } from './until.ts'

/** More calls than are scored between a request and the kill that follows it. */
const CALLS = 500

let server: WireServer

beforeAll(async () => {
  server = await startServer({ HEDDLE_CACHE: '/nonexistent/cache' })
})
afterAll(() => server[Symbol.asyncDispose]())

const { call } = trainingClient(() => server)

async function publish(project_id: string, object_id: string, val: object): Promise<string> {
  const { digest } = await call('POST', '/obj/create', { obj: { project_id, object_id, val } })
  return `weave:///${project_id}/object/${object_id}:${digest}`
}

function publishScorer(project: string): Promise<string> {
  const bases = ['Scorer', 'Object', 'BaseModel']
  return publish(project, 'json', {
    _type: 'ValidJSONScorer',
    _class_name: 'ValidJSONScorer',
    _bases: bases,
  })
}

async function writeCalls(project_id: string): Promise<string[]> {
  const calls = Array.from({ length: CALLS }, () => {
    const id = randomUUID()
    const at = new Date().toISOString()
    const times = { started_at: at, ended_at: at }
    return {
      project_id,
      id,
      trace_id: id,
      op_name: 'op',
      attributes: {},
      inputs: {},
      output: '{}',
      summary: {},
      ...times,
    }
  })
  await call('POST', `/v2/${project_id}/calls/complete`, { batch: calls })
  return calls.map(({ id }) => id)
}

/** The calls with feedback in a project, once there is this much feedback. */
async function scoredCalls(project_id: string, count: number): Promise<string[]> {
  return until(async () => {
    const query = { project_id, fields: ['weave_ref'], limit: 10_000 }
    const { result } = await call<{ result: { weave_ref: string }[] }>('POST', '/feedback/query', query)
    return result.length < count ? undefined : result.map(({ weave_ref }) => weave_ref.slice(-36)).sort()
  })
}

async function killAndStart(): Promise<void> {
  await server.signal('SIGKILL')
  await server.start()
}

describe('kill -9 of the server', () => {
  it('in the middle of scores: each call is scored once', async () => {
    const project = 'local/scored'
    const scorer = await publishScorer(project)
    const ids = await writeCalls(project)
    await call('POST', '/calls/score', { project_id: project, call_ids: ids, scorer_refs: [scorer] })
    await scoredCalls(project, 1)
    await killAndStart()
    expect(await scoredCalls(project, CALLS)).toEqual(ids.sort())
  })

  it('after calls that a monitor wants: each is scored once', async () => {
    const project = 'local/monitored'
    const scorers = [await publishScorer(project)]
    const val = {
      _class_name: 'Monitor',
      _bases: ['Object', 'BaseModel'],
      active: true,
      scorers,
      op_names: [],
    }
    await publish(project, 'watch', val)
    const ids = await writeCalls(project)
    await killAndStart()
    expect(await scoredCalls(project, CALLS)).toEqual(ids.sort())
  })
})
