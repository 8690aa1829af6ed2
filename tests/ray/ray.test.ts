import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pythonIn } from '../../scripts/python-environments.ts'
import { startServer, type WireServer } from '../wire/server.ts'
import { groups, trainingClient } from '../wire/training-client.ts'
import { until } from '../wire/until.ts'
import { ENGINE, type RayCluster, type RayNode, startRay } from './ray-cluster.ts'

/** A node has one of the resource `engine`, which is enough for one process of each kind. */
const HALF = JSON.stringify({ cpus: 1, gpus: 0, resources: { [ENGINE]: 0.5 } })

/** Groups of a job that a busy machine still finds running after its first step. */
const LONG = 24

let ray: RayCluster
let node: RayNode
let server: WireServer

/** Of a checkpoint of the same training data, whose job was not interrupted. */
let uninterrupted: Record<string, number> = {}

beforeAll(async () => {
  ray = await startRay()
  node = await ray.addNode()
  server = await startServer({
    HEDDLE_RAY_URL: ray.url,
    HEDDLE_RAY_PYTHON: pythonIn('engine'),
    HEDDLE_RAY_TRAINER: HALF,
    HEDDLE_RAY_SERVER: HALF,
    HEDDLE_STALL_SECONDS: '60',
  })
})
afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
  await ray?.[Symbol.asyncDispose]()
})

const { call, newModel, startJob, eventsOf, firstStep, end, newest, chat } = trainingClient(() => server)

interface RayJob {
  submission_id: string
  status: string
  metadata: Record<string, string> | null
}

/** Processes of the engine that run as jobs now, by their names. */
async function runningJobs(): Promise<string[]> {
  const jobs = await ray.ask<RayJob[]>('/api/jobs/')
  const running = jobs.filter(({ status }) => status === 'RUNNING')
  return running.flatMap(({ metadata }) => metadata?.['heddle_process'] ?? []).sort()
}

/** That a job has ended once, with one step for each sequence, and `resumed` interruptions. */
async function expectWholeJob(job: string, resumed: number): Promise<void> {
  const events = await eventsOf(job)
  const count = (type: string) => events.filter((event) => event.type === type).length
  expect(count('training_ended')).toBe(1)
  expect(count('training_failed')).toBe(0)
  expect(count('training_started')).toBe(1)
  expect(count('training_resumed')).toBe(resumed)
  expect(count('gradient_step')).toBe(events[0]?.data['num_sequences'])
}

function signalAll(found: readonly number[], signal: NodeJS.Signals): void {
  expect(found.length).toBeGreaterThan(0)
  for (const pid of found) process.kill(pid, signal)
}

/** The wrapper of the trainer, by the program below it. */
function wrapperOf(word: string): number[] {
  return node.processes('engine.remote').filter((pid) => node.below(pid, word).length > 0)
}

describe('engines as jobs of Ray', () => {
  it('train and answer: one job for each process, which stays', async () => {
    const startedAt = performance.now()
    const seconds = () => Math.round((performance.now() - startedAt) / 1000)
    const model = await newModel()
    expect((await end(await startJob(model.id, groups(LONG)))).type).toBe('training_ended')
    uninterrupted = (await newest(model.id)).metrics
    process.stdout.write(`a first training job took ${seconds()} s with the start of its trainer\n`)
    expect(await until(() => chat(`${model.name}:step1`).catch(() => undefined))).not.toBe('')
    process.stdout.write(`its checkpoint answered after ${seconds()} s with the start of vLLM\n`)
    const jobs = await runningJobs()
    expect(jobs).toEqual(['inference heddle/loom-tiny', 'trainer heddle/loom-tiny'])
    const workers = node.processes('engine.main')
    expect((await end(await startJob(model.id, groups(2)))).type).toBe('training_ended')
    expect(node.processes('engine.main')).toEqual(workers)
    expect(await runningJobs()).toEqual(jobs)
    expect((await newest(model.id)).step).toBe(2)
  })

  it('end a training job that is cancelled, and go on with the next', async () => {
    const model = await newModel()
    const job = await startJob(model.id, groups(100))
    await firstStep(job)
    const workers = node.processes('engine.main')
    await call('POST', `/v1/preview/training-jobs/${job}/cancel`)
    expect((await end(job)).type).toBe('training_failed')
    expect((await end(await startJob(model.id, groups(2)))).type).toBe('training_ended')
    expect(node.processes('engine.main')).toEqual(workers)
  })
})

describe('a trainer that is lost in the middle of a job', () => {
  it.each([
    ['killed', 'SIGKILL' as const, () => node.processes('engine.main')],
    ['killed with what connects it', 'SIGKILL' as const, () => wrapperOf('engine.main')],
    ['not heard of any more', 'SIGSTOP' as const, () => wrapperOf('engine.main')],
  ])(
    '%s: the job goes on from its last gradient step, and nothing is told twice',
    async (_, signal, found) => {
      const model = await newModel()
      const job = await startJob(model.id, groups(LONG))
      await firstStep(job)
      const workers = node.processes('engine.main')
      signalAll(found(), signal)
      expect((await end(job)).type).toBe('training_ended')
      await expectWholeJob(job, 1)
      expect((await newest(model.id)).step).toBe(1)
      expect((await newest(model.id)).metrics).toEqual(uninterrupted)
      expect(node.processes('engine.main')).not.toEqual(expect.arrayContaining(workers))
    },
  )
})

describe('kill -9 of the server in the middle of a job', () => {
  it('ends what it had started, and no job of others; the training job goes on when it is back', async () => {
    const other = await ray.submit('sleep 600')
    const model = await newModel()
    const job = await startJob(model.id, groups(LONG))
    await firstStep(job)
    const left = node.processes('engine.remote')
    expect(left.length).toBeGreaterThan(0)
    await server.signal('SIGKILL')
    await until(() => (left.some((pid) => node.processes('engine.').includes(pid)) ? undefined : true))
    await server.start()
    expect((await end(job)).type).toBe('training_ended')
    await expectWholeJob(job, 1)
    expect(await ray.ask<RayJob>(`/api/jobs/${other}`)).toMatchObject({ status: 'RUNNING' })
    await ray.ask(`/api/jobs/${other}/stop`, 'POST')
  })
})

describe('a node that is lost in the middle of a job', () => {
  it('the job waits for resources, which the state shows, and goes on on another node', async () => {
    const model = await newModel()
    const job = await startJob(model.id, groups(LONG))
    await firstStep(job)
    await node.kill()
    const waiting = await until(async () => {
      const { engine } = await call<{ engine: { parts: { name: string; waiting_for: string | null }[] } }>(
        'GET',
        '/v1/system-check',
      )
      return engine.parts.find(({ name, waiting_for }) => name.startsWith('trainer') && waiting_for !== null)
    })
    expect(waiting).toMatchObject({
      state: 'restarting',
      waiting_for: expect.stringContaining('waiting for resources'),
    })
    node = await ray.addNode()
    expect((await end(job)).type).toBe('training_ended')
    await expectWholeJob(job, 1)
    expect((await newest(model.id)).metrics).toEqual(uninterrupted)
    expect(await until(() => chat(`${model.name}:step1`).catch(() => undefined))).not.toBe('')
  })
})
