/**
 * Writes `release.tar.gz`: a data folder as this release writes it, and what this release reads in it. Run it when a
 * release is made, before the next migration:
 *   node tests/previous-release/write.ts
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { listen } from '../../src/http/listen.ts'
import { openFakeCompute } from '../../src/stores/compute/fake-compute.ts'
import { openTestApp, TEST_BASE_MODEL } from '../../src/test-app.ts'
import { group } from '../../src/training/test-group.ts'
import { play } from '../differential/exchange.ts'
import { SCENARIOS } from '../differential/scenarios/all.ts'
import { KEY } from '../wire/server.ts'
import { pack } from './archive.ts'
import { type Digests, readAll, TRAINING_PROJECT } from './reads.ts'

type Fields = Record<string, unknown>

async function main(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-release-'))
  const data = join(folder, 'data')
  await mkdir(data)
  const digests: Digests = { tables: [], files: [] }
  const projects = new Set(SCENARIOS.map(({ name }) => `differential/${name.replaceAll(' ', '-')}`))
  await withServer(data, async (url) => {
    for (const scenario of SCENARIOS) {
      const replies = await play(url, scenario)
      for (const [index, { path, body }] of scenario.requests.entries())
        noteDigest(digests, path, body, replies[index])
    }
    await train(url)
    await track(url)
  })
  // Read after a restart: what is only in memory is not what a release leaves behind.
  const reads = await withServer(data, (url) => readAll(url, [...projects], digests))
  await writeFile(join(folder, 'reads.json'), JSON.stringify(reads))
  await pack(folder)
  await rm(folder, { recursive: true })
  process.stdout.write(`${reads.length} reads\n`)
}

async function withServer<Result>(data: string, work: (url: string) => Promise<Result>): Promise<Result> {
  await using opened = await openTestApp(data, { compute: openFakeCompute })
  await using server = await listen(opened.app, { host: '127.0.0.1', port: 0 })
  return await work(server.url)
}

/** Remembers the tables and files that a scenario has made. */
function noteDigest(
  digests: Digests,
  path: unknown,
  body: unknown,
  reply: { status: number; body: unknown } | undefined,
): void {
  if (reply?.status !== 200 || typeof reply.body !== 'object' || reply.body === null) return
  const digest: unknown = Reflect.get(reply.body, 'digest')
  if (typeof digest !== 'string') return
  const project = body instanceof FormData ? body.get('project_id') : tableProject(body)
  if (typeof project !== 'string') return
  const same = { project_id: project, digest }
  if (path === '/table/create') digests.tables.push(same)
  if (path === '/file/create') digests.files.push(same)
}

function tableProject(body: unknown): unknown {
  const table: unknown = typeof body === 'object' && body !== null && Reflect.get(body, 'table')
  return typeof table === 'object' && table !== null && Reflect.get(table, 'project_id')
}

/** A model with three checkpoints, one of them tagged, a job that failed, SFT data, and a completion. */
async function train(url: string): Promise<void> {
  const model = await send(url, 'POST', '/v1/preview/models', {
    project: TRAINING_PROJECT,
    name: 'trained',
    base_model: TEST_BASE_MODEL,
  })
  const model_id = String(model['id'])
  for (const fake of [undefined, undefined, 'fail'])
    await finished(
      url,
      await send(url, 'POST', '/v1/preview/training-jobs', { model_id, trajectory_groups: [group(fake)] }),
    )
  await send(url, 'PUT', `/v1/preview/models/${model_id}/checkpoints/1/tags/prod`)
  await send(url, 'POST', `/v1/preview/models/${model_id}/log`, {
    split: 'val',
    trajectory_groups: [group()],
  })
  const line = '{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}\n'
  const { training_data_url } = await send(url, 'POST', '/v1/preview/training-data', line)
  await finished(
    url,
    await send(url, 'POST', '/v1/preview/sft-training-jobs', { model_id, training_data_url, config: {} }),
  )
  const name = `wandb-artifact:///local/${TRAINING_PROJECT}/trained:prod`
  await send(url, 'POST', '/v1/chat/completions', {
    model: name,
    messages: [{ role: 'user', content: 'hi' }],
  })
}

async function finished(url: string, { id }: Fields): Promise<void> {
  const isOver = (state: unknown) => ['succeeded', 'failed', 'canceled'].includes(String(state))
  while (!isOver((await send(url, 'GET', `/v1/preview/training-jobs/${String(id)}`))['state']))
    await delay(50)
}

/** A run of a W&B client with its metrics, log lines and summary. */
async function track(url: string): Promise<void> {
  await send(url, 'POST', '/graphql', {
    query: 'mutation ($input: UpsertBucketInput!) { upsertBucket(input: $input) { bucket { id } } }',
    variables: {
      input: { entityName: 'local', modelName: TRAINING_PROJECT, name: 'run-1', displayName: 'First' },
    },
  })
  const history = [
    { _step: 0, _timestamp: 1_700_000_000.5, loss: 1, deep: { x: [1] }, text: 'a' },
    { _step: 1, _timestamp: 1_700_000_001, loss: 0.5, ok: true },
  ]
  await send(url, 'POST', `/files/local/${TRAINING_PROJECT}/run-1/file_stream`, {
    files: {
      'wandb-history.jsonl': { offset: 0, content: history.map((line) => JSON.stringify(line)) },
      'wandb-summary.json': { offset: 0, content: ['{"loss":0.5,"_timestamp":1700000001}'] },
      'output.log': { offset: 0, content: ['2026-01-01T00:00:00.000001 50 %'] },
    },
  })
  await send(url, 'POST', `/files/local/${TRAINING_PROJECT}/run-1/file_stream`, {
    complete: true,
    exitcode: 0,
  })
}

async function send(url: string, method: string, path: string, body?: object | string): Promise<Fields> {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${KEY}` },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok || text.includes('"errors"')) throw new Error(`${path}: ${response.status} ${text}`)
  return JSON.parse(text) as Fields
}

await main()
