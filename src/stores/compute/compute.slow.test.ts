import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../../test-eventually.ts'
import type { ComputeOptions } from './compute.ts'
import { openFakeCompute } from './fake-compute.ts'
import { GB, type MemoryNeeds } from './memory-estimate.ts'
import type { Compute, EngineProcessStatus, EngineReply, InferenceProcess } from './port.ts'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'heddle-compute-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const opened: AsyncDisposable[] = []
afterEach(async () => {
  for (const one of opened.splice(0)) await one[Symbol.asyncDispose]()
})

/** Servers need 2 GB and trainers 1 GB. */
function open(gb: number, options: Partial<ComputeOptions> = {}, needs: Partial<MemoryNeeds> = {}): Compute {
  const memory = {
    budgetBytes: gb * GB,
    trainersApart: false,
    inferenceBytes: () => 2 * GB,
    trainerBytes: () => GB,
    reserveAsleep: () => () => {},
    measure: async () => {},
    ...needs,
  }
  const compute = openFakeCompute(folder, { memory, ...options })
  opened.push(compute)
  return compute
}

function signal(): AbortSignal {
  return new AbortController().signal
}

function statusOf(compute: Compute, name: string): EngineProcessStatus {
  const found = compute.statuses().find((status) => status.name === name)
  if (found === undefined) throw new Error(`no engine process ${name}`)
  return found
}

function chat(
  process: InferenceProcess,
  model: string,
  content: string,
  { stream = false, until = signal() } = {},
): Promise<EngineReply> {
  const body = { model, stream, messages: [{ role: 'user', content }] }
  return process.post('/v1/chat/completions', JSON.stringify(body), until)
}

async function textOf(reply: EngineReply): Promise<string> {
  let text = ''
  await reply.read((chunk) => {
    text += Buffer.from(chunk).toString()
  })
  return text
}

async function answerOf(compute: Compute, model: string): Promise<number> {
  const reply = await chat(await compute.inference(model).ready(signal()), model, 'hi')
  await textOf(reply)
  return reply.status
}

/** Room for one server and one that sleeps, or for one that sleeps and a trainer. */
function openSleeping(): Compute {
  return open(2.5, { sleepingBytes: 0.5 * GB })
}

function pidOf(compute: Compute, name: string): number {
  const line = statusOf(compute, name).last_lines.find((line) => line.startsWith('process '))
  return Number(/\d+/.exec(String(line))?.[0])
}

describe('inference servers that sleep to make room', () => {
  it('keep their process and what is loaded into it', async () => {
    const compute = openSleeping()
    expect(await answerOf(compute, 'a')).toBe(200)
    const process = await compute.inference('a').ready(signal())
    const before = pidOf(compute, 'inference a')
    await compute.trainer('a').ready(signal())
    expect(statusOf(compute, 'inference a')).toMatchObject({ state: 'asleep', memory_bytes: 0.5 * GB })
    expect(compute.memory().used_bytes).toBe(1.5 * GB)
    expect(compute.inference('a').running()).toBeUndefined()
    expect(await answerOf(compute, 'a')).toBe(200)
    expect(pidOf(compute, 'inference a')).toBe(before)
    expect(await compute.inference('a').ready(signal())).toBe(process)
    expect(statusOf(compute, 'trainer a').state).toBe('asleep')
  })

  it('take turns, asked at once and again and again', async () => {
    const compute = openSleeping()
    for (let round = 0; round < 5; round++) {
      const answers = ['a', 'b', 'a'].map((model) =>
        // One that finds no room is refused, and one that gave way before it was asked was not asked.
        answerOf(compute, model).catch((error: unknown) => String(error)),
      )
      for (const answer of await Promise.all(answers))
        expect(String(answer)).toMatch(/^200$|needs 2.0 GB|gave way/)
    }
    await eventually(async () => expect(await answerOf(compute, 'b')).toBe(200))
    expect(await answerOf(compute, 'a')).toBe(200)
    expect(statusOf(compute, 'inference b').state).toBe('asleep')
  })

  it('are ended where they do not fall asleep, and started again where they do not wake', async () => {
    const broken = join(folder, 'no-sleep')
    const compute = openSleeping()
    expect(await answerOf(compute, 'a')).toBe(200)
    writeFileSync(broken, '')
    expect(await answerOf(compute, 'b')).toBe(200)
    expect(statusOf(compute, 'inference a').state).toBe('idle')
    rmSync(broken)
    expect(await answerOf(compute, 'a')).toBe(200)
    expect(statusOf(compute, 'inference b').state).toBe('asleep')
    writeFileSync(broken, '')
    expect(await answerOf(compute, 'b')).toBe(200)
    rmSync(broken)
  })

  it('are ended where the machine has no room for their weights', async () => {
    const compute = open(2.5, { sleepingBytes: 0.5 * GB }, { reserveAsleep: () => undefined })
    expect(await answerOf(compute, 'a')).toBe(200)
    expect(await answerOf(compute, 'b')).toBe(200)
    expect(statusOf(compute, 'inference a').state).toBe('idle')
  })

  it('are idle once they die asleep', async () => {
    const compute = openSleeping()
    expect(await answerOf(compute, 'a')).toBe(200)
    const pid = pidOf(compute, 'inference a')
    expect(await answerOf(compute, 'b')).toBe(200)
    process.kill(pid, 'SIGKILL')
    await eventually(() => expect(statusOf(compute, 'inference a').state).toBe('idle'))
    expect(await answerOf(compute, 'a')).toBe(200)
  })
})

describe('trainers that sleep to make room', () => {
  /** The kind of the answer to a request, which may wait for room. */
  async function created(compute: Compute, model: string): Promise<unknown> {
    const request = { kind: 'create_adapter', request_id: '1', output_dir: join(folder, 'slept') }
    for await (const message of compute.trainer(model).run(request, { whenFull: 'wait' }, signal()))
      return (message as { kind: unknown }).kind
    return undefined
  }

  it('keep their process, and wake for the next request', async () => {
    const compute = openSleeping()
    expect(await created(compute, 'a')).toBe('adapter_created')
    const before = pidOf(compute, 'trainer a')
    for (let round = 0; round < 3; round++) {
      expect(await answerOf(compute, 'a')).toBe(200)
      expect(statusOf(compute, 'trainer a')).toMatchObject({ state: 'asleep', memory_bytes: 0.5 * GB })
      expect(compute.memory().used_bytes).toBe(2.5 * GB)
      expect(await created(compute, 'a')).toBe('adapter_created')
      expect(statusOf(compute, 'inference a').state).toBe('asleep')
      expect(pidOf(compute, 'trainer a')).toBe(before)
    }
  })

  it('are woken by requests that come while they fall asleep', async () => {
    const compute = openSleeping()
    writeFileSync(join(folder, 'engine/slow-sleep'), '')
    expect(await created(compute, 'a')).toBe('adapter_created')
    const before = pidOf(compute, 'trainer a')
    const answer = answerOf(compute, 'a').catch((error: unknown) => String(error))
    await eventually(() => expect(statusOf(compute, 'trainer a').state).toBe('stopping'))
    const again = created(compute, 'a')
    rmSync(join(folder, 'engine/slow-sleep'))
    expect([await again, pidOf(compute, 'trainer a')]).toEqual(['adapter_created', before])
    // The server has the room first, or is refused it, since it is in use by then.
    expect(String(await answer)).toMatch(/^200$|needs 2.0 GB/)
  })

  it('are ended where they do not fall asleep, and started again where they do not wake', async () => {
    const broken = join(folder, 'engine/no-sleep')
    const compute = openSleeping()
    expect(await created(compute, 'a')).toBe('adapter_created')
    writeFileSync(broken, '')
    expect(await answerOf(compute, 'a')).toBe(200)
    expect(statusOf(compute, 'trainer a').state).toBe('idle')
    rmSync(broken)
    expect(await created(compute, 'a')).toBe('adapter_created')
    const before = pidOf(compute, 'trainer a')
    expect(await answerOf(compute, 'a')).toBe(200)
    expect(statusOf(compute, 'trainer a').state).toBe('asleep')
    writeFileSync(broken, '')
    expect(await created(compute, 'a')).toBe('adapter_created')
    expect(pidOf(compute, 'trainer a')).not.toBe(before)
    rmSync(broken)
  })

  it('are idle once they die asleep', async () => {
    const compute = openSleeping()
    expect(await created(compute, 'a')).toBe('adapter_created')
    expect(await answerOf(compute, 'a')).toBe(200)
    process.kill(pidOf(compute, 'trainer a'), 'SIGKILL')
    await eventually(() => expect(statusOf(compute, 'trainer a').state).toBe('idle'))
    expect(await created(compute, 'a')).toBe('adapter_created')
  })

  it('end where they are not used, asleep or not', async () => {
    const compute = open(2.5, { sleepingBytes: 0.5 * GB, idleMs: 300 })
    expect(await created(compute, 'a')).toBe('adapter_created')
    expect(await answerOf(compute, 'a')).toBe(200)
    await eventually(() => expect(statusOf(compute, 'trainer a').state).toBe('idle'))
  })

  it('make room for each other', async () => {
    const compute = open(1.5, { sleepingBytes: 0.5 * GB })
    for (const model of ['a', 'b', 'a', 'b']) expect(await created(compute, model)).toBe('adapter_created')
    expect(statusOf(compute, 'trainer a').state).toBe('asleep')
  })
})

describe('engine processes that share the memory', () => {
  it('are idle until they are needed, and then count', async () => {
    const compute = open(10)
    compute.inference('a')
    compute.trainer('a')
    expect(compute.statuses().map(({ state }) => state)).toEqual(['idle', 'idle'])
    expect(compute.memory()).toEqual({ budget_bytes: 10 * GB, used_bytes: 0 })
    expect(await answerOf(compute, 'a')).toBe(200)
    expect(statusOf(compute, 'inference a')).toMatchObject({ state: 'ready', memory_bytes: 2 * GB })
    expect(compute.memory().used_bytes).toBe(2 * GB)
  })

  it('give way when they were used longest ago, those of the default base model last', async () => {
    const compute = open(6)
    for (const model of ['test/base', 'a', 'b']) expect(await answerOf(compute, model)).toBe(200)
    expect(await answerOf(compute, 'a')).toBe(200)
    expect(await answerOf(compute, 'c')).toBe(200)
    const states = () => compute.statuses().map(({ name, state }) => `${name}: ${state}`)
    expect(states()).toEqual([
      'inference test/base: ready',
      'inference a: ready',
      'inference b: idle',
      'inference c: ready',
    ])
    expect(statusOf(compute, 'inference b').last_error).toBeNull()
    expect(await answerOf(compute, 'b')).toBe(200)
    expect(statusOf(compute, 'inference a').state).toBe('idle')
  })

  it.each([
    [false, 'idle'],
    [true, 'ready'],
  ])('leave a server running where trainers have GPUs of their own: %s', async (trainersApart, state) => {
    const compute = open(2, {}, { trainersApart })
    expect(await answerOf(compute, 'a')).toBe(200)
    await compute.trainer('a').ready(signal())
    expect(statusOf(compute, 'inference a').state).toBe(state)
    const memory = trainersApart ? { budget_bytes: 4 * GB, used_bytes: 3 * GB } : { used_bytes: GB }
    expect(compute.memory()).toMatchObject(memory)
  })

  it('are lost to a request that held them idle, with an error that it was not sent', async () => {
    const compute = open(2)
    const held = await compute.inference('a').ready(signal())
    expect(await answerOf(compute, 'b')).toBe(200)
    await expect(chat(held, 'a', 'hi')).rejects.toMatchObject({ request: 'unsent' })
    const next = await compute.inference('a').ready(signal())
    expect(next).not.toBe(held)
    expect((await chat(next, 'a', 'hi')).status).toBe(200)
  })

  it('503 with the numbers when all are in use; the one in use is never stopped', async () => {
    const compute = open(4)
    const client = new AbortController()
    for (const model of ['a', 'b']) {
      const process = await compute.inference(model).ready(signal())
      void chat(process, model, 'hold', { until: client.signal }).catch(() => {})
    }
    const refusal = await compute
      .inference('c')
      .ready(signal())
      .catch((error: unknown) => error)
    expect(refusal).toMatchObject({ status: 503, request: 'sent', retryAfterSeconds: 15 })
    expect(String(refusal)).toContain(
      'inference c needs 2.0 GB, and the memory budget is 4.0 GB (HEDDLE_ENGINE_MEMORY_GB), ' +
        'of which 4.0 GB are in use by inference a (2.0 GB), inference b (2.0 GB)',
    )
    client.abort()
    await eventually(() => expect(statusOf(compute, 'inference a').users).toBe(0))
    expect(await answerOf(compute, 'c')).toBe(200)
  })

  it('503 for a process that would never fit, also for requests that would wait', async () => {
    const compute = open(0.5)
    const messages = compute.trainer('a').run({ kind: 'create_adapter' }, { whenFull: 'wait' }, signal())
    await expect(messages[Symbol.asyncIterator]().next()).rejects.toThrow(/trainer a needs 1.0 GB.*is 0.5 GB/)
  })

  it('are waited for by a job, which keeps its worker until it has ended', async () => {
    const compute = open(2)
    const client = new AbortController()
    const process = await compute.inference('a').ready(signal())
    const held = chat(process, 'a', 'hold', { until: client.signal }).catch(() => {})
    const request = { kind: 'create_adapter', request_id: '1', output_dir: join(folder, 'made') }
    const job = compute.trainer('a').run(request, { whenFull: 'wait' }, signal())[Symbol.asyncIterator]()
    const first = job.next()
    await expect(compute.trainer('a').ready(signal())).rejects.toThrow(/needs 1.0 GB/)
    client.abort()
    await held
    expect(await first).toMatchObject({ value: { kind: 'adapter_created' } })
    await expect(compute.inference('a').ready(signal())).rejects.toThrow(/in use by trainer a/)
    await job.return?.()
    expect(await answerOf(compute, 'a')).toBe(200)
  })
})

describe('users of an engine process', () => {
  it.each([
    ['before the reply', false],
    ['after the reply began, unread', true],
  ])('end when the client goes away %s', async (_when, stream) => {
    const compute = open(4)
    const process = await compute.inference('a').ready(signal())
    const client = new AbortController()
    const reply = chat(process, 'a', 'hold', { stream, until: client.signal })
    if (stream) await reply
    expect(statusOf(compute, 'inference a').users).toBe(1)
    client.abort()
    await reply.catch(() => {})
    await eventually(() => expect(statusOf(compute, 'inference a').users).toBe(0))
  })

  it('end when the server dies in the middle', async () => {
    const compute = open(4)
    const process = await compute.inference('a').ready(signal())
    const stream = await chat(process, 'a', 'hold', { stream: true })
    // What it wrote last may be of another's request.
    const message = 'inference a ended: exit code 1'
    await expect(chat(process, 'a', 'die')).rejects.toMatchObject({ status: 503, message })
    await expect(textOf(stream)).rejects.toMatchObject({ status: 503, message })
    await eventually(() => expect(statusOf(compute, 'inference a').last_error).toBe(message))
    expect(statusOf(compute, 'inference a').last_lines).toContain('Loaded the adapter of another request')
    await eventually(() => expect(statusOf(compute, 'inference a').users).toBe(0))
  })

  it('are those who wait for its start, too', async () => {
    const compute = open(2)
    const waiting = compute.inference('a').ready(signal())
    await expect(compute.inference('b').ready(signal())).rejects.toThrow(/in use by inference a/)
    await waiting
    expect(await answerOf(compute, 'b')).toBe(200)
  })
})

describe('an engine process without users', () => {
  it('stops, and starts again; not so that of the default base model, nor one with a request', async () => {
    const compute = open(10, { idleMs: 100 })
    const client = new AbortController()
    expect(await answerOf(compute, 'test/base')).toBe(200)
    const busy = await compute.inference('busy').ready(signal())
    void chat(busy, 'busy', 'hold', { until: client.signal }).catch(() => {})
    expect(await answerOf(compute, 'a')).toBe(200)
    await eventually(() => expect(statusOf(compute, 'inference a').state).toBe('idle'))
    expect(statusOf(compute, 'inference test/base').state).toBe('ready')
    expect(statusOf(compute, 'inference busy').state).toBe('ready')
    expect(await answerOf(compute, 'a')).toBe(200)
    client.abort()
    await eventually(() => expect(statusOf(compute, 'inference busy').state).toBe('idle'))
  })
})

describe('too many base models', () => {
  it('the least recently requested one is forgotten, unless it is in use or the default one', async () => {
    const compute = open(10)
    const client = new AbortController()
    const busy = await compute.inference('busy').ready(signal())
    void chat(busy, 'busy', 'hold', { until: client.signal }).catch(() => {})
    compute.inference('test/base')
    const held = await compute.inference('old').ready(signal())
    const names = Array.from({ length: 61 }, (_, index) => `mistyped ${index}`)
    for (const name of names) compute.inference(name)
    compute.inference('mistyped 0')
    expect(compute.statuses()).toHaveLength(64)

    compute.inference('new')
    compute.inference('newer')
    const known = compute.statuses().map(({ name }) => name)
    expect(known).toHaveLength(64)
    expect(known.slice(0, 3)).toEqual(['inference busy', 'inference test/base', 'inference mistyped 0'])
    expect(known).not.toContain('inference mistyped 1')
    await expect(chat(held, 'old', 'hi')).rejects.toMatchObject({ request: 'unsent' })
    await eventually(() => expect(compute.memory().used_bytes).toBe(2 * GB))
    expect(await answerOf(compute, 'old')).toBe(200)
    client.abort()
  })
})
