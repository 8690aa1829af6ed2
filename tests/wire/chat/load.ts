import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { SERVER_PROGRAM } from '../../../scripts/server-build.ts'
import { trainingClient, trajectory } from '../training-client.ts'
import { CLIENTS, chatServer, REQUESTS_MAX } from './server.ts'

/** Enough to change the small model's answers within one job. */
const LEARNING_RATE = 5e-2

const AT_ONCE = 64

/** MB: two thousand open requests with sockets, streams and bodies, 200 kB each, and some 350 of an idle server. */
const MEGABYTES_MAX = 750

/**
 * Servers know what the others have admitted a moment later; without that, three of them would admit three times the
 * limit.
 */
const ADMITTED_MAX = 2 * REQUESTS_MAX

const { newModel, startJob, end } = trainingClient(chatServer)

interface Work {
  model: string
  messages: object[]
  structured_outputs?: object
}

function send(work: object): Promise<Response> {
  return fetch(`${chatServer().url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${chatServer().key}` },
    body: JSON.stringify({ temperature: 0, max_tokens: 16, ...work }),
  })
}

async function answer(work: Work): Promise<string> {
  const response = await send(work)
  expect(response.status).toBe(200)
  const reply = (await response.json()) as { choices: [{ message: { content: string } }] }
  return reply.choices[0].message.content
}

/** Answers in the order of the work, a number of them at a time. */
async function answers(work: Work[], atOnce: number): Promise<string[]> {
  const found: string[] = []
  const entries = work.entries()
  const workers = Array.from({ length: atOnce }, async () => {
    for (const [index, one] of entries) found[index] = await answer(one)
  })
  await Promise.all(workers)
  return found
}

/** A model that was trained to prefer the shorter or the longer of two made-up answers, so that its weights differ. */
async function trainedModel(preferred: 'short' | 'long'): Promise<string> {
  const model = await newModel()
  const [short, long] = preferred === 'short' ? [1, 0] : [0, 1]
  const group = { trajectories: [trajectory(short, { tokens: 30 }), trajectory(long, { tokens: 200 })] }
  const job = await startJob(model.id, Array(6).fill(group), { learning_rate: LEARNING_RATE })
  expect((await end(job)).type).toBe('training_ended')
  return model.name
}

describe('base model, two adapters and constrained answers in one batch', () => {
  it('each answers as it does alone', async () => {
    const models = ['heddle/loom-tiny', await trainedModel('short'), await trainedModel('long')]
    const work = Array.from({ length: 16 }, (_, n) => `What is ${n} + ${n + 3}?`).flatMap((content) =>
      models.flatMap((model) => {
        const messages = [{ role: 'user', content }]
        return [
          { model, messages },
          { model, messages, structured_outputs: { regex: '[0-9a-f]{6}' } },
          { model, messages, structured_outputs: { choice: ['some', 'none'] } },
        ]
      }),
    )
    const alone = await answers(work, 1)
    const ofModel = (model: string | undefined) => alone.filter((_, index) => work[index]?.model === model)
    const [base, first, second] = models.map(ofModel)
    expect(first).not.toEqual(base)
    expect(second).not.toEqual(base)
    expect(second).not.toEqual(first)
    for (let round = 0; round < 2; round++) expect(await answers(work, AT_ONCE)).toEqual(alone)
  })
})

describe(`${CLIENTS} clients at once`, () => {
  it('all are answered with 200 or 429, in bounded memory', async () => {
    let refusedAtFirst = 0
    let megabytes = 0
    // Found once: to list the processes of the machine takes this one the time of many requests.
    const servers = chatServer().processes(SERVER_PROGRAM)
    const watch = setInterval(() => {
      megabytes = Math.max(megabytes, residentMegabytes(servers))
    }, 100)
    async function client(n: number): Promise<void> {
      for (let tries = 1; ; tries++) {
        const response = await send({ messages: [{ role: 'user', content: `${n}?` }], max_tokens: 4 })
        await response.text()
        if (response.status === 200) return
        expect(response.status).toBe(429)
        if (tries === 1) refusedAtFirst++
        const seconds = Number(response.headers.get('retry-after'))
        expect(seconds).toBeGreaterThan(0)
        await new Promise((wake) => setTimeout(wake, seconds * 1000))
      }
    }
    const engines = chatServer().processes('engine.inference.api_server')
    const signalEngines = (signal: NodeJS.Signals): void => {
      for (const pid of engines) process.kill(pid, signal)
    }
    // No request ends until as many have come as are too many, however slowly the clients send.
    signalEngines('SIGSTOP')
    const answered = Promise.all(Array.from({ length: CLIENTS }, (_, n) => client(n)))
    await expect
      .poll(() => refusedAtFirst)
      .toBeGreaterThan(CLIENTS - ADMITTED_MAX)
      .finally(() => signalEngines('SIGCONT'))
    await answered.finally(() => clearInterval(watch))
    expect(megabytes).toBeLessThan(MEGABYTES_MAX)
  })
})

/** Of the largest server, where there are several. */
function residentMegabytes(servers: readonly number[]): number {
  const sizes = servers.map((pid) => /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
  return Math.max(...sizes.map(Number)) / 1024
}
