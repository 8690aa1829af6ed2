import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pythonIn } from './environments.ts'
import { KEY, startServer, type WireServer } from './server.ts'

/** More than a row of a job takes on a busy machine, which is the longest that a healthy trainer is silent. */
const STALL_SECONDS = 20

let server: WireServer

beforeAll(async () => {
  server = await startServer({
    HEDDLE_ENGINE_PYTHON: pythonIn('engine'),
    HEDDLE_STALL_SECONDS: String(STALL_SECONDS),
  })
})
afterAll(() => server[Symbol.asyncDispose]())

async function call(method: string, path: string, body?: unknown): Promise<Record<string, never>> {
  const headers = { authorization: `Bearer ${KEY}` }
  const response = await fetch(`${server.url}${path}`, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as Record<string, never>
}

async function newModel(): Promise<{ id: string; name: string }> {
  const body = {
    project: 'wire',
    name: randomUUID(),
    base_model: 'heddle/loom-tiny',
    entity: null,
    return_existing: true,
  }
  const model = await call('POST', '/v1/preview/models', body)
  return { id: model['id'] ?? '', name: `wandb-artifact:///local/wire/${body.name}` }
}

/** Trajectories of made-up tokens: enough work for a job to be caught in the middle. */
function groups(count: number): unknown[] {
  const tokens = Array.from({ length: 200 }, (_, index) => ({
    token: `token_id:${100 + index}`,
    bytes: [],
    logprob: -2,
    top_logprobs: [],
  }))
  const choice = {
    finish_reason: 'length',
    index: 0,
    logprobs: { content: tokens, refusal: null },
    message: { role: 'assistant', content: 'made up' },
  }
  const trajectory = (reward: number) => ({
    messages_and_choices: [{ role: 'user', content: 'hi' }, choice],
    reward,
  })
  return Array.from({ length: count }, () => ({ trajectories: [0, 1, 2, 3].map(trajectory) }))
}

async function startJob(modelId: string, count: number): Promise<string> {
  const body = {
    model_id: modelId,
    trajectory_groups: groups(count),
    experimental_config: { learning_rate: 1e-5 },
  }
  const job = await call('POST', '/v1/preview/training-jobs', body)
  return job['id'] ?? ''
}

interface Event {
  type: string
  data: Record<string, string>
}

async function eventsOf(jobId: string): Promise<Event[]> {
  const page = await call('GET', `/v1/preview/training-jobs/${jobId}/events?limit=100`)
  return page['data'] as unknown as Event[]
}

async function until<Found>(find: () => Promise<Found | undefined>): Promise<Found> {
  for (;;) {
    const found = await find()
    if (found !== undefined) return found
    await new Promise((wake) => setTimeout(wake, 200))
  }
}

const firstStep = (jobId: string) =>
  until(async () => (await eventsOf(jobId)).find((event) => event.type === 'gradient_step'))

const end = (jobId: string) =>
  until(async () => (await eventsOf(jobId)).find((event) => /training_(ended|failed)/.test(event.type)))

async function newestStep(modelId: string): Promise<number> {
  const page = await call('GET', `/v1/preview/models/${modelId}/checkpoints?limit=1&order=desc`)
  return (page['data'] as unknown as { step: number }[])[0]?.step ?? 0
}

async function chat(model: string): Promise<string> {
  const body = {
    model,
    messages: [{ role: 'user', content: 'What is 2 + 2?' }],
    max_tokens: 8,
    temperature: 0,
  }
  const reply = await call('POST', '/v1/chat/completions', body)
  const [choice] = reply['choices'] as unknown as { message: { content: string } }[]
  return choice?.message.content ?? ''
}

function signalAll(word: string, signal: NodeJS.Signals): void {
  const found = server.processes(word)
  expect(found.length).toBeGreaterThan(0)
  for (const pid of found) process.kill(pid, signal)
}

describe('a trainer that is lost in the middle of a job', () => {
  it.each([
    ['killed', 'SIGKILL' as const],
    ['hanging', 'SIGSTOP' as const],
  ])('%s: the job ends with a cause, and the next one goes on from the last step', async (_name, signal) => {
    const model = await newModel()
    const good = await startJob(model.id, 2)
    expect((await end(good)).type).toBe('training_ended')
    const doomed = await startJob(model.id, 200)
    await firstStep(doomed)
    signalAll('engine.main', signal)
    const failure = await end(doomed)
    expect(failure).toMatchObject({
      type: 'training_failed',
      data: { error_message: expect.stringMatching(/trainer/i) },
    })
    expect(
      (await eventsOf(doomed)).filter((event) => /training_(ended|failed)/.test(event.type)),
    ).toHaveLength(1)
    expect(await newestStep(model.id)).toBe(1)
    expect((await end(await startJob(model.id, 2))).type).toBe('training_ended')
    expect(await newestStep(model.id)).toBe(2)
  })
})

describe('a vLLM that is lost', () => {
  it.each([
    ['killed', 'SIGKILL' as const],
    ['hanging', 'SIGSTOP' as const],
  ])('%s: it comes back, and answers the same', async (_name, signal) => {
    const before = await chat('heddle/loom-tiny')
    signalAll('vllm.entrypoints', signal)
    const after = await until(() => chat('heddle/loom-tiny').catch(() => undefined))
    expect(after).toBe(before)
  })
})

describe('kill -9 of the server in the middle of a job', () => {
  it('keeps every acknowledged call, job, event and checkpoint; the job ends visibly; the next goes on', async () => {
    const model = await newModel()
    expect((await end(await startJob(model.id, 2))).type).toBe('training_ended')
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
    const job = await startJob(model.id, 30)
    await firstStep(job)
    const queued = await startJob(model.id, 2)
    const seen = await eventsOf(job)
    const children = [...server.processes('engine.main'), ...server.processes('vllm.entrypoints')]

    await server.signal('SIGKILL')
    await until(async () => (children.every((pid) => !isAlive(pid)) ? true : undefined))
    await server.start()

    expect((await call('POST', '/call/read', { project_id: 'local/wire', id }))['call']).toMatchObject({ id })
    const ended = await end(job)
    const events = await eventsOf(job)
    expect(events.slice(0, seen.length)).toEqual(seen)
    expect(events.filter((event) => /training_(ended|failed)/.test(event.type))).toHaveLength(1)
    if (ended.type === 'training_failed') expect(ended.data['error_message']).toMatch(/restart/i)
    expect((await end(queued)).type).toBe('training_ended')
    expect(await newestStep(model.id)).toBe(ended.type === 'training_failed' ? 2 : 3)
    expect(await chat(`${model.name}:step1`)).toBe(answer)
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
