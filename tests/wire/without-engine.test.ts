import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pythonIn } from '../../scripts/python-environments.ts'
import { KEY, startServer, type WireServer } from './server.ts'
import { until } from './until.ts'

let server: WireServer
/** The folder in which the server looks for the engine; empty at first. */
let cache = ''

beforeAll(async () => {
  cache = await mkdtemp(join(tmpdir(), 'heddle-cache-'))
  server = await startServer({ HEDDLE_CACHE: cache })
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await rm(cache, { recursive: true, force: true })
})

function post(path: string, body: unknown): Promise<Response> {
  return fetch(`${server.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}` },
    body: JSON.stringify(body),
  })
}

describe('without the Python environment of the engine', () => {
  it('the trace half works', async () => {
    const id = '00000000-0000-4000-8000-000000000000'
    const start = {
      project_id: 'local/p',
      id,
      trace_id: id,
      op_name: 'op',
      started_at: '2026-01-01T00:00:00Z',
      attributes: {},
      inputs: {},
    }
    expect((await post('/call/start', { start })).status).toBe(200)
  })

  it.each([
    ['/v1/preview/models', { project: 'p', name: 'm', base_model: 'heddle/loom-tiny' }],
    [
      '/v1/preview/training-jobs',
      { model_id: '00000000-0000-4000-8000-000000000000', trajectory_groups: [] },
    ],
    ['/v1/chat/completions', { messages: [{ role: 'user', content: 'hi' }] }],
  ])('503 at %s with the command that installs it', async (path, body) => {
    const response = await post(path, body)
    expect(response.status).toBe(503)
    expect(await response.text()).toContain('npm run setup')
  })

  it('503 at /v1/system-check, 200 at /v1/health', async () => {
    expect((await fetch(`${server.url}/v1/system-check`)).status).toBe(503)
    expect((await fetch(`${server.url}/v1/health`)).status).toBe(200)
  })

  it('200 once the environment is there, without a start of the server', async () => {
    const environment = resolve(pythonIn('engine'), '../..')
    await mkdir(join(cache, 'python'))
    await symlink(environment, join(cache, 'python', basename(environment)))
    const chat = { model: 'heddle/loom-tiny', messages: [{ role: 'user', content: 'hi' }], max_tokens: 1 }
    await until(async () => ((await post('/v1/chat/completions', chat)).status === 200 ? true : undefined))
    expect((await fetch(`${server.url}/v1/system-check`)).status).toBe(200)
    expect(server.processes('engine.main')).not.toEqual([])
  })
})
