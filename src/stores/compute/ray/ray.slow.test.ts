import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { findPython } from '../../../../scripts/python-environments.ts'
import { NO_TELEMETRY } from '../../../telemetry.ts'
import { eventually } from '../../../test-eventually.ts'
import { SILENT } from '../../../test-log.ts'
import { createLogFolder } from '../../processes/log-folder.ts'
import { markerOf } from '../../workspace/marker.ts'
import { fakeProgram } from '../fake-compute.ts'
import { createMemoryBudget } from '../memory-budget.ts'
import type { Trainer } from '../port.ts'
import { createTrainer, type TrainerOptions } from '../trainer.ts'
import { createVllm } from '../vllm.ts'
import { type FakeRay, startFakeRay } from './fake-ray.ts'
import { createRayJobs } from './jobs-api.ts'
import { createNodeRunner, type NodeProgram, type NodeRunner } from './node-runner.ts'
import { createOwnJobs } from './own-jobs.ts'

/** The workspace. */
let folder = ''
let dataFolder = ''
let ray: FakeRay
const opened: AsyncDisposable[] = []

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'heddle-ray-'))
  dataFolder = mkdtempSync(join(tmpdir(), 'heddle-ray-data-'))
})
afterAll(() => {
  for (const made of [folder, dataFolder]) rmSync(made, { recursive: true, force: true })
})
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one[Symbol.asyncDispose]()
})

async function fakeRay(): Promise<FakeRay> {
  ray = await startFakeRay(process.env)
  opened.push(ray)
  return ray
}

function newRunner(
  more: { python?: string; workspace?: { folder: string; marker: string }; awayMs?: number } = {},
): NodeRunner {
  const jobs = createRayJobs(ray.url, undefined)
  opened.push(jobs)
  return createNodeRunner({
    jobs,
    ownJobs: createOwnJobs(jobs, { dataFolder, log: SILENT }),
    enginePackage: async () => ({ name: '_ray_pkg_1.tar.gz', bytes: async () => Buffer.from('packed') }),
    python: findPython(),
    workspace: { folder, marker: markerOf(folder) },
    logs: createLogFolder(join(folder, 'logs')),
    log: SILENT,
    awayMs: 0,
    ...more,
  })
}

/** A program of Node, as Python starts it. */
function nodeProgram(
  kind: NodeProgram['kind'],
  script: string,
  words: (port: number) => string[],
): NodeProgram {
  return {
    kind,
    baseModel: 'test/base',
    needs: { cpus: 2, gpus: 0, memoryBytes: 1e9, custom: { engine: 1 }, labels: {} },
    args: ({ port }) => {
      const { command, args } = fakeProgram(script, words(port))
      return ['-c', 'import os, sys; os.execv(sys.argv[1], sys.argv[1:])', command, ...args]
    },
    env: {},
  }
}

const COMMON = {
  log: SILENT,
  budget: createMemoryBudget({ budgetBytes: 0, idleMs: 0 }),
  rank: 'stop-when-idle' as const,
  memoryBytes: () => 0,
  stallMs: 10_000,
}

function newTrainer(run = newRunner(), more: Partial<TrainerOptions> = {}): Trainer & AsyncDisposable {
  const program = nodeProgram('trainer', 'fake-trainer.ts', () => [])
  const trainer = createTrainer({
    ...COMMON,
    name: 'trainer',
    start: (hooks) => run(program, hooks),
    ...more,
  })
  opened.push(trainer)
  return trainer
}

function signal(): AbortSignal {
  return new AbortController().signal
}

/** Has an adapter made in a folder of the workspace. */
async function makeAdapter(trainer: Trainer, name: string): Promise<unknown> {
  const request = { kind: 'create_adapter', request_id: '1', output_dir: name }
  for await (const message of trainer.run(request, { whenFull: 'wait' }, signal())) return message
  return undefined
}

function onlyJob(): [string, NonNullable<ReturnType<FakeRay['jobs']['get']>>] {
  const [found] = ray.jobs
  if (found === undefined) throw new Error('no job was submitted')
  return found
}

describe('an engine process as a Ray job', () => {
  it('gets what it needs, and speaks over its connection in the workspace', async () => {
    await fakeRay()
    const trainer = newTrainer()
    expect(await makeAdapter(trainer, 'made')).toMatchObject({ kind: 'adapter_created', directory: 'made' })
    expect(existsSync(join(folder, 'made/adapter_config.json'))).toBe(true)
    expect(await makeAdapter(trainer, 'again')).toMatchObject({ kind: 'adapter_created' })
    expect([...ray.packages.keys()]).toEqual(['_ray_pkg_1.tar.gz'])
    const [id, job] = onlyJob()
    expect(ray.jobs.size).toBe(1)
    expect(job.metadata).toEqual({ heddle_process: 'trainer test/base' })
    expect(job.request).toMatchObject({
      entrypoint_num_cpus: 2,
      entrypoint_num_gpus: 0,
      entrypoint_memory: 1e9,
      entrypoint_resources: { engine: 1 },
      runtime_env: { working_dir: 'gcs://_ray_pkg_1.tar.gz' },
    })
    await trainer[Symbol.asyncDispose]()
    await eventually(() => expect(job.status).toBe('SUCCEEDED'))
    expect(ray.stopped).not.toContain(id)
  })

  it('answers over HTTP at the address of its node, to whoever has its key', async () => {
    await fakeRay()
    const run = newRunner()
    const vllm = createVllm({
      ...COMMON,
      name: 'inference',
      telemetry: NO_TELEMETRY,
      servedModel: 'test/base',
      requestsMax: 1,
      workspaceRoot: '/on/nodes',
      start: (key) => async (hooks) => {
        const program = nodeProgram('inference', 'fake-vllm.ts', (port) => [String(port), 'test/base', key])
        const { program: running, place } = await run(program, hooks)
        return { program: running, url: `http://${place.host}:${place.port}` }
      },
    })
    opened.push(vllm)
    const process = await vllm.ready(signal())
    const body = JSON.stringify({ model: 'test/base', messages: [{ role: 'user', content: 'hi' }] })
    expect((await process.post('/v1/chat/completions', body, signal())).status).toBe(200)
    expect(process.pathOf('adapters/1')).toBe('/on/nodes/adapters/1')
  })

  it('waits for resources, which its state shows, and starts when they are there', async () => {
    const { jobs, startJob } = await fakeRay()
    ray.behaviour.start = 'wait'
    const trainer = newTrainer()
    const made = makeAdapter(trainer, 'late')
    await eventually(() =>
      expect(trainer.status()).toMatchObject({
        state: 'starting',
        waiting_for: 'Ray: Job has not started yet. It may be waiting for resources.',
      }),
    )
    for (const id of jobs.keys()) startJob(id)
    expect(await made).toMatchObject({ kind: 'adapter_created' })
    expect(trainer.status().waiting_for).toBeNull()
  })

  it('ends one that nobody uses while it waits', async () => {
    await fakeRay()
    const run = newRunner()
    const budget = createMemoryBudget({ budgetBytes: 0, idleMs: 0, roomMs: 3_000 })
    const unused = newTrainer(run, { name: 'unused', budget })
    const used = newTrainer(run, { name: 'used', budget })
    await unused.ready(signal())
    const job = used.run({ kind: 'none' }, { whenFull: 'wait' }, signal())
    void job[Symbol.asyncIterator]()
      .next()
      .catch(() => {})
    await used.ready(signal())
    ray.behaviour.start = 'wait'
    const made = makeAdapter(newTrainer(run, { name: 'waiting', budget }), 'later')
    await eventually(() => expect(unused.status().state).toBe('idle'))
    expect(used.status().state).toBe('ready')
    const [id = ''] = [...ray.jobs.keys()].slice(-1)
    ray.startJob(id)
    expect(await made).toMatchObject({ kind: 'adapter_created' })
  })

  it('is submitted again when Ray gives up waiting, which counts as no failure', async () => {
    await fakeRay()
    ray.behaviour.start = 'wait'
    const trainer = newTrainer()
    const made = makeAdapter(trainer, 'second')
    await eventually(() => expect(trainer.status().waiting_for).not.toBeNull())
    ray.behaviour.start = 'at-once'
    Object.assign(onlyJob()[1], { status: 'FAILED', error_type: 'JOB_SUPERVISOR_ACTOR_START_TIMEOUT' })
    expect(await made).toMatchObject({ kind: 'adapter_created' })
    expect(ray.jobs.size).toBe(2)
    expect(trainer.status().last_error).toBeNull()
  })

  it('is stopped while it waits', async () => {
    await fakeRay()
    ray.behaviour.start = 'wait'
    const trainer = newTrainer()
    const made = makeAdapter(trainer, 'never').catch((error: unknown) => String(error))
    await eventually(() => expect(trainer.status().waiting_for).not.toBeNull())
    await trainer[Symbol.asyncDispose]()
    expect(await made).toContain('stopped')
    expect(ray.stopped).toEqual([onlyJob()[0]])
  })

  it('starts anew when its connection is lost, once its job has ended', async () => {
    await fakeRay()
    const trainer = newTrainer()
    expect(await makeAdapter(trainer, 'before')).toMatchObject({ kind: 'adapter_created' })
    const [id, job] = onlyJob()
    process.kill(job.process?.pid ?? 0, 'SIGKILL')
    await eventually(() => expect(trainer.status().last_error).toContain('the connection to the node broke'))
    expect(job.status).not.toBe('RUNNING')
    expect(ray.stopped).toContain(id)
    expect(await makeAdapter(trainer, 'after')).toMatchObject({ kind: 'adapter_created' })
    expect([...ray.jobs.keys()]).toEqual([expect.not.stringMatching(id)])
  })
})

describe('a cluster that is away when an engine process is to be started', () => {
  it.each(['first', 'later'])('is waited for, with jobs that were left: %s', async (when) => {
    await fakeRay()
    const run = newRunner({ awayMs: 60_000 })
    if (when === 'later') {
      const id = 'left'
      ray.jobs.set(id, { status: 'FAILED', message: '', metadata: {}, request: {}, output: '' })
      writeFileSync(join(dataFolder, 'ray-jobs', id), '')
    }
    ray.behaviour.refusal = { status: 503, text: 'it starts' }
    const trainer = newTrainer(run)
    const made = makeAdapter(trainer, `away-${when}`)
    await eventually(() => expect(ray.refused).toBeGreaterThan(3))
    delete ray.behaviour.refusal
    expect(await made).toMatchObject({ kind: 'adapter_created' })
    expect(trainer.status().last_error).toBeNull()
  })
})

describe('an engine process that cannot be started on Ray', () => {
  /** Why a trainer cannot be started. */
  async function reasonOf(run: NodeRunner): Promise<string> {
    return makeAdapter(newTrainer(run), 'none').then(
      () => 'it could',
      (error: unknown) => String(error),
    )
  }

  it('says what Ray says of a job that failed', async () => {
    await fakeRay()
    expect(await reasonOf(newRunner({ python: '/no/python' }))).toMatch(/FAILED.*\/no\/python.*not found/)
  })

  it('says that the cluster does not answer', async () => {
    await fakeRay()
    const run = newRunner()
    await ray[Symbol.asyncDispose]()
    expect(await reasonOf(run)).toMatch(/Ray at http:\/\/127.0.0.1:\d+: GET .*ECONNREFUSED/)
  })

  it.each([
    [{ status: 401, text: 'Unauthorized' }, /HEDDLE_RAY_TOKEN.*401/],
    [{ status: 200, text: '<html>' }, /not that of its Jobs API: <html>/],
    [
      { status: 500, text: 'Traceback:\n  x\nValueError: it is broken' },
      /status 500: ValueError: it is broken/,
    ],
  ])('says what is answered: %j', async (refusal, reason) => {
    await fakeRay()
    ray.behaviour.refusal = refusal
    expect(await reasonOf(newRunner())).toMatch(reason)
  })

  it('says that a node has another folder in the place of the workspace', async () => {
    await fakeRay()
    expect(await reasonOf(newRunner({ workspace: { folder, marker: 'other' } }))).toContain(
      `${folder} is the workspace of another server`,
    )
  })

  it('says that a node does not have the workspace', async () => {
    await fakeRay()
    const workspace = { folder: join(folder, 'not-there'), marker: 'any' }
    expect(await reasonOf(newRunner({ workspace }))).toMatch(
      /not-there is not the server's workspace: No such file/,
    )
  })
})

describe('jobs that a server left', () => {
  it('are stopped before its first, and their records removed; those of others stay', async () => {
    await fakeRay()
    const add = (id: string, status: 'PENDING' | 'RUNNING' | 'FAILED') =>
      ray.jobs.set(id, { status, message: '', metadata: {}, request: {}, output: '' })
    add('left', 'RUNNING')
    add('waits', 'PENDING')
    add('failed', 'FAILED')
    add('theirs', 'RUNNING')
    const own = join(dataFolder, 'ray-jobs')
    rmSync(own, { recursive: true, force: true })
    mkdirSync(own)
    for (const id of ['left', 'waits', 'failed', 'forgotten']) writeFileSync(join(own, id), '')
    expect(await makeAdapter(newTrainer(), 'fresh')).toMatchObject({ kind: 'adapter_created' })
    expect(new Set(ray.stopped)).toEqual(new Set(['left', 'waits']))
    const [fresh = ''] = [...ray.jobs.keys()].slice(-1)
    expect([...ray.jobs.keys()]).toEqual(['waits', 'theirs', fresh])
    expect(ray.jobs.get('theirs')?.status).toBe('RUNNING')
    expect(readdirSync(own).sort()).toEqual([fresh, 'waits'].sort())
  })

  it('are removed from the records of Ray when they have ended and another starts', async () => {
    await fakeRay()
    const run = newRunner()
    const first = newTrainer(run)
    await first.ready(signal())
    const [id, job] = onlyJob()
    await first[Symbol.asyncDispose]()
    await eventually(() => expect(job.status).toBe('SUCCEEDED'))
    await newTrainer(run).ready(signal())
    expect(ray.jobs.has(id)).toBe(false)
    expect(ray.jobs.size).toBe(1)
  })
})
