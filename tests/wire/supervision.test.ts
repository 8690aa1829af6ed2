import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pythonIn } from '../../scripts/python-environments.ts'
import { startServer, type WireServer } from './server.ts'
import { groups, trainingClient } from './training-client.ts'
import { until } from './until.ts'

/** More than a row of a job takes on a busy machine: a healthy trainer reports at least after each row. */
const STALL_SECONDS = 20

/** Groups of a job that a busy machine still finds running after its first step. */
const LONG = 24

let server: WireServer

beforeAll(async () => {
  server = await startServer({
    HEDDLE_ENGINE_PYTHON: pythonIn('engine'),
    HEDDLE_STALL_SECONDS: String(STALL_SECONDS),
  })
})
afterAll(() => server[Symbol.asyncDispose]())

const { call, newModel, startJob, eventsOf, firstStep, end, newest, chat } = trainingClient(() => server)

/** Returns the processes that got the signal. */
function signalAll(word: string, signal: NodeJS.Signals): number[] {
  const found = server.processes(word)
  expect(found.length).toBeGreaterThan(0)
  for (const pid of found) process.kill(pid, signal)
  return found
}

describe('a trainer that is lost in the middle of a job', () => {
  it.each([
    ['killed', 'SIGKILL' as const],
    ['hanging', 'SIGSTOP' as const],
  ])(
    '%s once: the job goes on from its last gradient step, and nothing is told twice',
    async (_name, signal) => {
      const model = await newModel()
      const job = await startJob(model.id, groups(LONG))
      await firstStep(job)
      const signalled = signalAll('engine.main', signal)
      expect((await end(job)).type).toBe('training_ended')
      // Idle trainers of other servers hang as well, which would cost the jobs of later tests an attempt.
      for (const pid of signalled) if (isAlive(pid)) process.kill(pid, 'SIGKILL')
      const events = await eventsOf(job)
      const count = (type: string) => events.filter((event) => event.type === type).length
      expect(count('training_started')).toBe(1)
      expect(count('training_resumed')).toBe(1)
      expect(count('gradient_step')).toBe(events[0]?.data['num_sequences'])
      expect((await newest(model.id)).step).toBe(1)
    },
  )

  it('killed each time: the job ends with a cause and a hint, and the next one goes on', async () => {
    const model = await newModel()
    const doomed = await startJob(model.id, groups(100))
    for (let attempt = 1; attempt <= 3; attempt++) {
      await until(async () => {
        const { attempts, progress } = await call('GET', `/v1/preview/training-jobs/${doomed}`)
        return attempts === attempt && progress !== null ? true : undefined
      })
      signalAll('engine.main', 'SIGKILL')
    }
    const failure = await end(doomed)
    expect(failure).toMatchObject({
      type: 'training_failed',
      data: { error_message: expect.stringMatching(/trainer.*HEDDLE_GRADIENT_CHECKPOINTING.*step 0/i) },
    })
    expect(await end(await startJob(model.id, groups(2)))).toMatchObject({ type: 'training_ended' })
    expect((await newest(model.id)).step).toBe(1)
  })
})

/** One that is killed: chat/stream.ts. */
describe('a vLLM that is lost', () => {
  it('hanging: it comes back, and answers the same', async () => {
    const before = await chat('heddle/loom-tiny')
    signalAll('engine.inference.api_server', 'SIGSTOP')
    const after = await until(() => chat('heddle/loom-tiny').catch(() => undefined))
    expect(after).toBe(before)
  })
})

describe('kill -9 of the server in the middle of a job', () => {
  it('keeps every acknowledged call, job, event and checkpoint; the job ends visibly; the next goes on', async () => {
    const model = await newModel()
    expect((await end(await startJob(model.id, groups(2)))).type).toBe('training_ended')
    const answer = await chat(`${model.name}:step1`)
    const id = randomUUID()
    const start = {
      project_id: 'local/wire',
      id,
      trace_id: id,
      op_name: 'op',
      started_at: new Date().toISOString(),
      attributes: {},
      inputs: {},
    }
    await call('POST', '/call/start', { start })
    const job = await startJob(model.id, groups(LONG))
    await firstStep(job)
    const queued = await startJob(model.id, groups(2))
    const seen = await eventsOf(job)
    const children = [...server.processes('engine.main'), ...server.processes('engine.inference.api_server')]

    await server.signal('SIGKILL')
    await until(async () => (children.every((pid) => !isAlive(pid)) ? true : undefined))
    await server.start()

    expect((await call('POST', '/call/read', { project_id: 'local/wire', id }))['call']).toMatchObject({ id })
    expect((await end(job)).type).toBe('training_ended')
    const events = await eventsOf(job)
    expect(events.slice(0, seen.length)).toEqual(seen)
    expect(events.filter((event) => /training_(ended|failed)/.test(event.type))).toHaveLength(1)
    expect((await end(queued)).type).toBe('training_ended')
    expect((await newest(model.id)).step).toBe(3)
    expect(await until(() => chat(`${model.name}:step1`).catch(() => undefined))).toBe(answer)
  })
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
