import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../../test-eventually.ts'
import { freePort } from '../processes/free-port.ts'
import type { RemoteOptions } from './compute.ts'
import { writeFakeAdapter } from './fake-adapter.ts'
import { fakeProgram, HANGING_MS, openFakeCompute } from './fake-compute.ts'
import type { Compute, EngineProcessStatus, EngineReply, InferenceProcess } from './port.ts'

const MODEL = 'test/base'

/** A server elsewhere is looked at twice within that. */
const STALL_MS = 5_000
const KEY = 'a-key'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'heddle-remote-'))
  writeFakeAdapter(join(folder, 'adapter'), 'B=1')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const computes: Compute[] = []
const servers = new Set<ChildProcess>()
afterEach(async () => {
  for (const compute of computes.splice(0)) await compute[Symbol.asyncDispose]()
  for (const server of servers) server.kill('SIGKILL')
  servers.clear()
})

function open(remote: Partial<RemoteOptions>, stallMs = STALL_MS): Compute {
  const compute = openFakeCompute(folder, { stallMs, remote: { urls: [], workers: [], key: KEY, ...remote } })
  computes.push(compute)
  return compute
}

/** A vLLM that is not a child of the server; resolves once it answers. */
async function startRemote(port: number, servedModel = MODEL): Promise<ChildProcess> {
  const { command, args, env } = fakeProgram('fake-vllm.ts', [String(port), servedModel, KEY])
  const child = spawn(command, args, { env, stdio: ['pipe', 'ignore', 'ignore'] })
  servers.add(child)
  await eventually(() => fetch(urlOf(port)))
  return child
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL')
  await once(child, 'exit')
}

function urlOf(port: number): string {
  return `http://127.0.0.1:${port}`
}

function ready(compute: Compute): Promise<InferenceProcess> {
  return compute.inference(MODEL).ready(new AbortController().signal)
}

function post(process: InferenceProcess, path: string, body: object): Promise<EngineReply> {
  return process.post(path, JSON.stringify(body), new AbortController().signal)
}

async function textOf(reply: EngineReply): Promise<string> {
  let text = ''
  await reply.read((chunk) => {
    text += Buffer.from(chunk).toString()
  })
  return text
}

async function loadAdapter(process: InferenceProcess): Promise<number> {
  const body = { lora_name: 'digest', lora_path: join(folder, 'adapter') }
  const reply = await post(process, '/v1/load_lora_adapter', body)
  await textOf(reply)
  return reply.status
}

async function chat(process: InferenceProcess, model: string, content = 'hi'): Promise<string | number> {
  const reply = await post(process, '/v1/chat/completions', { model, messages: [{ role: 'user', content }] })
  const text = await textOf(reply)
  if (reply.status !== 200) return reply.status
  const { choices } = JSON.parse(text) as { choices: { message: { content: string } }[] }
  return choices[0]?.message.content.split(':')[0] ?? ''
}

function statusOf(compute: Compute): EngineProcessStatus {
  const [status] = compute.statuses()
  if (status === undefined) throw new Error('no engine process')
  return status
}

function expectState(compute: Compute, state: RegExp, error: RegExp): Promise<void> {
  return eventually(() => {
    expect(statusOf(compute).state).toMatch(state)
    expect(statusOf(compute).last_error).toMatch(error)
  })
}

describe('a vLLM elsewhere', () => {
  it('answers, takes adapters, and needs no memory here', async () => {
    const port = await freePort()
    await startRemote(port)
    const compute = open({ urls: [urlOf(port)] })
    const process = await ready(compute)
    expect(await chat(process, MODEL)).toBe('no adapter')
    expect(await loadAdapter(process)).toBe(200)
    expect(await chat(process, 'digest')).toBe('B=1')
    expect(statusOf(compute)).toMatchObject({ state: 'ready', memory_bytes: 0, users: 0 })
    expect(compute.memory().used_bytes).toBe(0)
  })

  it('is not woken to find out whether it can be used', async () => {
    const port = await freePort()
    await startRemote(port)
    const headers = { authorization: `Bearer ${KEY}` }
    const asleep = await fetch(`${urlOf(port)}/heddle/sleep`, { method: 'POST', headers })
    expect(asleep.status).toBe(200)
    await ready(open({ urls: [urlOf(port)] }))
  })

  it('ends a reply whose reader throws, at once or later, and goes on with others', async () => {
    const port = await freePort()
    await startRemote(port)
    const process = await ready(open({ urls: [urlOf(port)] }))
    const body = JSON.stringify({ model: MODEL, stream: true, messages: [{ content: 'hi' }] })
    const unreadable = new Error('unreadable')
    const throwing = [
      () => {
        throw unreadable
      },
      () => Promise.reject(unreadable),
    ]
    for (const onChunk of throwing) {
      const reply = await process.post('/v1/chat/completions', body, new AbortController().signal)
      await expect(reply.read(onChunk)).rejects.toBe(unreadable)
    }
    expect(await chat(process, MODEL)).toBe('no adapter')
  })

  it.each([
    [
      'serves another model',
      { served: 'other/base' },
      /it serves other\/base, and HEDDLE_BASE_MODEL is test/,
    ],
    ['wants another key', { key: undefined }, /it answers 401 to \/v1\/models/],
    ['is not there', { served: undefined }, /ECONNREFUSED/],
  ])('503 with the reason when it %s', async (_what, options, reason) => {
    const port = await freePort()
    const { served, key } = {
      served: MODEL as string | undefined,
      key: KEY as string | undefined,
      ...options,
    }
    if (served !== undefined) await startRemote(port, served)
    const compute = open({ urls: [urlOf(port)], key })
    await expect(ready(compute)).rejects.toMatchObject({
      status: 503,
      message: expect.stringMatching(reason),
    })
    expect(statusOf(compute).state).toBe('failed')
  })

  it('comes back after an outage as another process, without the loaded adapters', async () => {
    const port = await freePort()
    const first = await startRemote(port)
    const compute = open({ urls: [urlOf(port)] })
    const before = await ready(compute)
    expect(await loadAdapter(before)).toBe(200)
    await kill(first)
    await expect(chat(before, 'digest')).rejects.toMatchObject({ status: 503, retryAfterSeconds: 5 })
    await expectState(compute, /restarting|failed/, /is lost: .*ECONNREFUSED|cannot be used/)
    await startRemote(port)
    await eventually(async () => expect(await ready(compute)).not.toBe(before))
    const after = await ready(compute)
    expect(await chat(after, 'digest')).toBe(404)
    expect(await loadAdapter(after)).toBe(200)
    expect(await chat(after, 'digest')).toBe('B=1')
  })

  it('is found to be gone without a request', async () => {
    const port = await freePort()
    const server = await startRemote(port)
    const compute = open({ urls: [urlOf(port)] })
    await ready(compute)
    await kill(server)
    await expectState(compute, /restarting|failed/, /ECONNREFUSED/)
  })

  it('is not lost when a router before it fails once', async () => {
    const port = await freePort()
    await startRemote(port)
    let [asked, failures] = [0, 0]
    const router = createServer(async (request, response) => {
      const isCheck = request.url === '/v1/models'
      if (isCheck) asked++
      if (isCheck && failures > 0) {
        failures--
        response.writeHead(502).end()
        return
      }
      const { method = 'GET', headers } = request
      const sent = Buffer.concat(await Array.fromAsync(request))
      const { authorization = '' } = headers
      const reply = await fetch(urlOf(port) + request.url, {
        method,
        headers: { authorization },
        ...(method === 'POST' && { body: sent }),
      })
      response.writeHead(reply.status).end(Buffer.from(await reply.arrayBuffer()))
    })
    router.listen(0, '127.0.0.1')
    await once(router, 'listening')
    try {
      const compute = open({ urls: [`http://127.0.0.1:${(router.address() as AddressInfo).port}`] })
      const process = await ready(compute)
      failures = 1
      const before = asked
      await eventually(() => expect(asked).toBeGreaterThan(before + 1))
      expect(await chat(process, MODEL)).toBe('no adapter')
    } finally {
      router.close()
    }
  })

  it('503 when it hangs in the middle, and for those who come then', async () => {
    const port = await freePort()
    const server = await startRemote(port)
    const compute = open({ urls: [urlOf(port)] }, HANGING_MS)
    const process = await ready(compute)
    await expect(chat(process, MODEL, 'hang')).rejects.toMatchObject({
      status: 503,
      message: expect.stringMatching(/hung: no token for 1.5 s|aborted due to timeout/),
    })
    await expect(ready(compute)).rejects.toMatchObject({ status: 503 })
    server.kill('SIGCONT')
    await eventually(async () => expect(await chat(await ready(compute), MODEL)).toBe('no adapter'))
  })

  it('makes every replica behind a router load an adapter, except one that cannot be reached', async () => {
    const ports = [await freePort(), await freePort(), await freePort()]
    const [router = 0, one = 0, another = 0] = ports
    for (const port of [router, one]) await startRemote(port)
    const compute = open({ urls: [urlOf(router)], workers: [urlOf(one), urlOf(another)] })
    expect(compute.inference(MODEL).requestsMax).toBe(2 * compute.inference('another').requestsMax)
    const process = await ready(compute)
    expect(await loadAdapter(process)).toBe(200)
    expect(await idsOf(one)).toEqual([MODEL, 'digest'])
    await startRemote(another)
    // One has it already, which is no failure.
    expect(await loadAdapter(process)).toBe(200)
    expect(await idsOf(another)).toEqual([MODEL, 'digest'])
    expect(await idsOf(router)).toEqual([MODEL])
    expect(await ready(compute)).toBe(process)
  })

  it('is several, each with its own adapters: one that is lost is replaced by the others', async () => {
    const ports = await Promise.all([freePort(), freePort(), freePort()])
    const servers = await Promise.all(ports.map((port) => startRemote(port)))
    const compute = open({ urls: ports.map(urlOf) })
    const inference = compute.inference(MODEL)
    const readyFor = (prompt: string) =>
      inference.ready(new AbortController().signal, () => ({ model: undefined, prompt }))
    const chosen = async (): Promise<Set<InferenceProcess>> =>
      new Set(await Promise.all(Array.from({ length: 30 }, (_, index) => readyFor(`prompt ${index}`))))
    await eventually(async () => expect((await chosen()).size).toBe(3))
    for (const process of await chosen()) {
      expect(await loadAdapter(process)).toBe(200)
      expect(await chat(process, 'digest')).toBe('B=1')
    }
    for (const port of ports) expect(await idsOf(port)).toEqual([MODEL, 'digest'])
    const [first] = servers
    if (first !== undefined) await kill(first)
    await eventually(async () => expect((await chosen()).size).toBe(2))
    for (const process of await chosen()) expect(await chat(process, 'digest')).toBe('B=1')
    await eventually(() =>
      expect(statusOf(compute)).toMatchObject({
        state: 'ready',
        last_error: expect.stringContaining('ECONNREFUSED'),
      }),
    )
  })
})

async function idsOf(port: number): Promise<string[]> {
  const reply = await fetch(`${urlOf(port)}/v1/models`, { headers: { authorization: `Bearer ${KEY}` } })
  const { data } = (await reply.json()) as { data: { id: string }[] }
  return data.map(({ id }) => id)
}
