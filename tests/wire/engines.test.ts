import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pythonIn } from '../../scripts/python-environments.ts'
import { startServer, type WireServer } from './server.ts'
import { trainingClient } from './training-client.ts'
import { until } from './until.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const TINY = join(ROOT, 'engine/models/loom-tiny')
const DEFAULT = 'heddle/loom-tiny'

/** Memory for the trainer of the default base model and one engine process of another, not for two with a server. */
const MEMORY_GB = 3.5

let server: WireServer
let elsewhere: ChildProcess
let door: Door
let second = ''
/** The folder of other base models. */
let models = ''

beforeAll(async () => {
  const port = await freePort()
  elsewhere = startElsewhere(port)
  door = createDoor(port)
  await door.open()
  models = await mkdtemp(join(tmpdir(), 'heddle-models-'))
  server = await startServer({
    HEDDLE_BASE_MODELS: models,
    HEDDLE_ENGINE_PYTHON: pythonIn('engine'),
    HEDDLE_ENGINE_MEMORY_GB: String(MEMORY_GB),
    HEDDLE_VLLM_URL: `http://127.0.0.1:${door.port}/`,
    HEDDLE_PRIORITY_SCHEDULING: 'on',
  })
  second = await copyOfTiny('second')
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await rm(models, { recursive: true, force: true })
  await door.shut()
  const ended = once(elsewhere, 'exit')
  process.kill(-(elsewhere.pid ?? Number.NaN), 'SIGKILL')
  await ended
})

const { call, request, newModel, chat } = trainingClient(() => server)

/** A remote vLLM, in a separate process group that ends with its stdin. */
function startElsewhere(port: number): ChildProcess {
  const args = [
    '--model',
    TINY,
    '--served-model-name',
    DEFAULT,
    '--port',
    String(port),
    '--priority-scheduling',
  ]
  return spawn(pythonIn('engine'), ['-m', 'engine.serve', ...args], {
    env: { ...process.env, PYTHONPATH: join(ROOT, 'engine/src') },
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
}

interface Door {
  readonly port: number
  open(): Promise<void>
  /** Breaks all connections; new ones are refused. */
  shut(): Promise<void>
}

/** A proxy to a port: an outage of the network is over sooner than one of a vLLM that starts anew. */
function createDoor(to: number): Door {
  const sockets = new Set<Socket>()
  let port = 0
  const server = createServer((client) => {
    const engine = connect(to, '127.0.0.1')
    for (const [socket, other] of [[client, engine] as const, [engine, client] as const]) {
      sockets.add(socket)
      socket.on('error', () => {}).on('close', () => other.destroy() && sockets.delete(socket))
      socket.pipe(other)
    }
  })
  return {
    get port() {
      return port
    },
    async open() {
      await once(server.listen(port, '127.0.0.1'), 'listening')
      port = (server.address() as AddressInfo).port
    },
    async shut() {
      const closed = once(server.close(), 'close')
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port: found } = probe.address() as AddressInfo
  probe.close()
  return found
}

/** Another base model with the same weights, so that it answers the same. */
async function copyOfTiny(name: string): Promise<string> {
  const folder = join(models, name)
  await cp(TINY, folder, { recursive: true })
  await newModel({ base_model: folder })
  return folder
}

interface SystemCheck {
  engine: {
    memory_budget_bytes: number
    memory_used_bytes: number
    parts: { name: string; state: string; memory_bytes: number; last_error: string | null }[]
  }
}

async function partOf(name: string) {
  const { engine } = (await (await request('GET', '/v1/system-check')).json()) as SystemCheck
  expect(engine.memory_used_bytes).toBeLessThanOrEqual(engine.memory_budget_bytes)
  return engine.parts.find((part) => part.name === name)
}

function answered(model: string): Promise<string> {
  return until(() => chat(model).catch(() => undefined))
}

describe('engines on demand', () => {
  it('the default base model and its adapters are served by a vLLM elsewhere', async () => {
    const model = await newModel()
    const answer = await answered(DEFAULT)
    expect(await chat(`${model.name}:step0`)).toBe(answer)
    expect(server.processes('engine.inference.api_server')).toEqual([])
    expect(await partOf(`inference ${DEFAULT}`)).toMatchObject({ state: 'ready', memory_bytes: 0 })
  })

  it('a second base model starts here when it is requested, while the first one serves', async () => {
    const answer = await chat(DEFAULT)
    const starting = answered(second)
    expect(await chat(DEFAULT)).toBe(answer)
    expect(await starting).toBe(answer)
    expect(server.processes(`--served-model-name ${second}`)).not.toEqual([])
  })

  it('200 for a request with a priority, where the engines heed it', async () => {
    for (const model of [DEFAULT, second]) {
      const body = { model, messages: [{ role: 'user', content: 'hi' }], max_tokens: 1, priority: 7 }
      expect((await request('POST', '/v1/chat/completions', body)).status).toBe(200)
    }
  })

  it('a third one gets the memory of the idle second; an outage elsewhere ends meanwhile', async () => {
    const answer = await chat(DEFAULT)
    await door.shut()
    const refused = await until(async () => {
      const reply = await request('POST', '/v1/chat/completions', { model: DEFAULT, messages: [] })
      return reply.status === 503 ? reply : undefined
    })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)

    await copyOfTiny('third')
    expect(await partOf(`inference ${second}`)).toMatchObject({ state: 'idle', last_error: null })
    expect(server.processes(`--served-model-name ${second}`)).toEqual([])
    await door.open()
    expect(await answered(DEFAULT)).toBe(answer)
    await call('GET', '/v1/system-check')
  })
})
