import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pythonIn } from '../../scripts/python-environments.ts'
import { clientFolders } from './client-folders.ts'
import { clientProgram } from './client-program.ts'
import { runClient, startServer, type WireServer } from './server.ts'

let server: WireServer

beforeAll(async () => {
  // The engine is not needed here, and its start would only slow this down.
  server = await startServer({ HEDDLE_AUTH: 'keys', HEDDLE_CACHE: '/nonexistent/cache' })
})
afterAll(() => server[Symbol.asyncDispose]())

async function send<Reply>(path: string, body: object): Promise<Reply> {
  const headers = { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' }
  const reply = await fetch(server.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  expect(reply.status).toBe(200)
  return (await reply.json()) as Reply
}

describe('PyPI wandb with a key of scope ingest', () => {
  it('logs a run and an artifact, and the run again, without one failed request', async () => {
    const { key } = await send<{ key: string }>('/v1/accounts/keys', { name: 'ingest', scope: 'ingest' })
    const folder = await mkdtemp(join(tmpdir(), 'heddle-wandb-'))
    const env = { WANDB_BASE_URL: server.url, WANDB_API_KEY: key, ...clientFolders(folder) }
    await server.takeRequests()
    expect(await runClient([pythonIn('clients'), clientProgram('wandb_ingest.py'), 'wire'], env)).toEqual({
      done: true,
    })
    expect((await server.takeRequests()).filter(({ status }) => status >= 400)).toEqual([])
    const query = `{ project(name: "wire", entityName: "local") {
      run(name: "ingested") { displayName state config summaryMetrics historyKeys }
      artifact(name: "data:latest") { state files { edges { node { name } } } } } }`
    const { data } = await send<{ data: { project: { run: object; artifact: object } } }>('/graphql', {
      query,
    })
    expect(data.project).toMatchObject({
      run: {
        displayName: 'The name',
        state: 'finished',
        config: expect.stringContaining('"first":{"value":3}'),
        summaryMetrics: expect.stringContaining('"best":3'),
        historyKeys: { lastStep: 5 },
      },
      artifact: { state: 'COMMITTED', files: { edges: [{ node: { name: 'one.txt' } }] } },
    })
  })
})
