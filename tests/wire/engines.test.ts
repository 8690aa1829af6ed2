import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pythonIn } from './environments.ts'
import { startServer, type WireServer } from './server.ts'
import { trainingClient, until } from './training-client.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const TINY = join(ROOT, 'engine/models/loom-tiny')
const DEFAULT = 'heddle/loom-tiny'

/** Room for the trainer of the default base model and for both parts of one other, not for those of two others. */
const MEMORY_GB = 4

let server: WireServer
let elsewhere: ChildProcess
let port = 0

beforeAll(async () => {
  port = await freePort()
  elsewhere = startElsewhere()
  server = await startServer({
    HEDDLE_ENGINE_PYTHON: pythonIn('engine'),
    HEDDLE_ENGINE_MEMORY_GB: String(MEMORY_GB),
    HEDDLE_VLLM_URL: `http://127.0.0.1:${port}/`,
  })
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await killElsewhere()
})

const { call, request, newModel, chat } = trainingClient(() => server)

/** The vLLM of somebody else, in a group of its own that ends with its stdin. */
function startElsewhere(): ChildProcess {
  const args = ['-m', 'engine.serve', '--model', TINY, '--served-model-name', DEFAULT, '--port', String(port)]
  return spawn(pythonIn('engine'), args, {
    env: { ...process.env, PYTHONPATH: join(ROOT, 'engine/src') },
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
}

async function killElsewhere(): Promise<void> {
  const ended = once(elsewhere, 'exit')
  process.kill(-(elsewhere.pid ?? Number.NaN), 'SIGKILL')
  await ended
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
  const folder = join(server.folder, name)
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
    expect(server.processes('vllm.entrypoints')).toEqual([])
    expect(await partOf(`inference ${DEFAULT}`)).toMatchObject({ state: 'ready', memory_bytes: 0 })
  })

  it('a second base model starts here when it is asked for, while the first one serves', async () => {
    const answer = await chat(DEFAULT)
    const second = await copyOfTiny('second')
    const starting = answered(second)
    expect(await chat(DEFAULT)).toBe(answer)
    expect(await starting).toBe(answer)
    expect(server.processes(`--served-model-name ${second}`)).not.toEqual([])
  })

  it('a third one takes the room of the idle second; an outage elsewhere ends meanwhile', async () => {
    const second = join(server.folder, 'second')
    const answer = await chat(DEFAULT)
    await killElsewhere()
    const refused = await until(async () => {
      const reply = await request('POST', '/v1/chat/completions', { model: DEFAULT, messages: [] })
      return reply.status === 503 ? reply : undefined
    })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    elsewhere = startElsewhere()

    const third = await copyOfTiny('third')
    expect(await answered(third)).toBe(answer)
    expect(await partOf(`inference ${second}`)).toMatchObject({ state: 'idle', last_error: null })
    expect(server.processes(`--served-model-name ${second}`)).toEqual([])
    expect(await answered(DEFAULT)).toBe(answer)
    await call('GET', '/v1/system-check')
  })
})
