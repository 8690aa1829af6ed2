import { createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { Agent, request } from 'undici'
import type { Log } from '../../log.ts'
import type { ChildSpec } from './child.ts'
import { type EngineReply, type Inference, type InferenceProcess, PartLost } from './port.ts'
import { type Life, supervise } from './supervisor.ts'

/** Idle connections are kept this long; vLLM is told to keep them far longer, so that it never closes one first. */
const KEEP_ALIVE_MS = 60_000

/** Reused connections to vLLM were seen to be reset; a request of which no byte was answered is sent again. */
const TRANSPORT_TRIES = 3

/** A server whose connections break has mostly ended; this long is waited for its end to show. */
const END_NOTICE_MS = 3_000

/** How often a starting server is asked whether it answers. */
const START_POLL_MS = 200

/** How often the watch looks at a running server. */
const WATCH_MS = 5_000

/** An idle server proves with one token this often that its engine still computes. */
const IDLE_PROBE_MS = 60_000

export interface VllmOptions {
  name: string
  log: Log
  /** The program for one port. */
  spec: (port: number) => ChildSpec
  /** The name under which the base model is served. */
  servedModel: string
  /** A server that has not produced a byte for this long, although asked to, hangs. */
  stallMs: number
}

/** A vLLM server as a child process, watched by what it produces. */
export function createVllm(options: VllmOptions): Inference & AsyncDisposable {
  const agent = new Agent({
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    // A long generation is not an error; the watch below ends a server that hangs.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  let port = 0
  const supervisor = supervise<string>({
    name: options.name,
    log: options.log,
    async spec() {
      port = await freePort()
      return options.spec(port)
    },
    untilReady: (_child, ended) => untilAnswering({ port, agent, ended, servedModel: options.servedModel }),
  })
  const processes = new WeakMap<Life<string>, InferenceProcess>()

  return {
    status: supervisor.status,
    async ready(signal) {
      const life = await supervisor.ready(signal)
      let running = processes.get(life)
      if (running === undefined) {
        running = connect(life, { agent, stallMs: options.stallMs, servedModel: options.servedModel })
        processes.set(life, running)
      }
      return running
    },
    async [Symbol.asyncDispose]() {
      await supervisor[Symbol.asyncDispose]()
      await agent.destroy()
    },
  }
}

/** A port that is free at this moment; vLLM tells us by ending if someone else was faster. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      const port = typeof address === 'object' && address !== null ? address.port : 0
      server.close(() => resolve(port))
    })
  })
}

interface Starting {
  port: number
  agent: Agent
  ended: AbortSignal
  servedModel: string
}

/** Resolves with the server's URL once it is healthy and has made a first token, which takes seconds. */
async function untilAnswering({ port, agent, ended, servedModel }: Starting): Promise<string> {
  const url = `http://127.0.0.1:${port}`
  for (;;) {
    ended.throwIfAborted()
    const healthy = await request(`${url}/health`, {
      dispatcher: agent,
      signal: AbortSignal.any([ended, AbortSignal.timeout(WATCH_MS)]),
    }).then(
      async (reply) => {
        await reply.body.dump()
        return reply.statusCode === 200
      },
      () => false,
    )
    if (healthy) break
    await delay(START_POLL_MS, undefined, { signal: ended })
  }
  const reply = await request(`${url}/v1/completions`, {
    method: 'POST',
    headers: JSON_HEADERS,
    body: probeBody(servedModel),
    signal: ended,
    dispatcher: agent,
  })
  await reply.body.dump()
  return url
}

const JSON_HEADERS = { 'content-type': 'application/json' }

/** One token, to see whether the engine behind the HTTP server computes. */
function probeBody(servedModel: string): string {
  return JSON.stringify({ model: servedModel, prompt: 'a', max_tokens: 1 })
}

interface Connection {
  agent: Agent
  stallMs: number
  servedModel: string
}

function connect(life: Life<string>, { agent, stallMs, servedModel }: Connection): InferenceProcess {
  let inFlight = 0
  let lastByteAt = performance.now()
  let lastProofAt = performance.now()

  async function send(path: string, body: string, signal: AbortSignal): Promise<EngineReply> {
    const reply = await retryTransport(life, signal, () =>
      request(`${life.ready}${path}`, {
        method: 'POST',
        headers: JSON_HEADERS,
        body,
        signal,
        dispatcher: agent,
      }),
    )
    return { status: reply.statusCode, body: reply.body }
  }

  async function* counted(body: AsyncIterable<Uint8Array>, done: () => void): AsyncIterable<Uint8Array> {
    try {
      for await (const chunk of body) {
        lastByteAt = performance.now()
        lastProofAt = lastByteAt
        yield chunk
      }
    } catch (error) {
      throw await lossOf(life, error)
    } finally {
      done()
    }
  }

  async function probe(): Promise<void> {
    const signal = AbortSignal.any([life.ended, AbortSignal.timeout(stallMs)])
    try {
      const reply = await send('/v1/completions', probeBody(servedModel), signal)
      for await (const _chunk of reply.body) lastByteAt = performance.now()
      lastProofAt = performance.now()
    } catch {
      if (!life.ended.aborted) life.replace(`it hung: no token for ${stallMs / 1000} s`)
    }
  }

  async function watch(): Promise<void> {
    // Half the stall time of silence is suspicious while somebody waits; the probe then has the other half.
    const suspicious = stallMs / 2
    while (!life.ended.aborted) {
      await delay(Math.min(WATCH_MS, suspicious), undefined, { signal: life.ended, ref: false }).catch(
        () => {},
      )
      const now = performance.now()
      const silent = inFlight > 0 && now - lastByteAt > suspicious
      if (!life.ended.aborted && (silent || now - lastProofAt > IDLE_PROBE_MS)) await probe()
    }
  }
  void watch()

  return {
    async post(path, body, signal) {
      if (inFlight === 0) lastByteAt = performance.now()
      inFlight++
      let open = true
      const done = (): void => {
        if (open) inFlight--
        open = false
      }
      try {
        const reply = await send(path, body, AbortSignal.any([signal, life.ended]))
        lastByteAt = performance.now()
        return { status: reply.status, body: counted(reply.body, done) }
      } catch (error) {
        done()
        signal.throwIfAborted()
        throw await lossOf(life, error)
      }
    },
  }
}

/** Says why a connection broke: a server that breaks one has mostly ended, which shows a little later. */
async function lossOf(life: Life<string>, cause: unknown): Promise<PartLost> {
  const { promise, resolve } = Promise.withResolvers<void>()
  life.ended.addEventListener('abort', () => resolve(), { once: true })
  if (!life.ended.aborted) await Promise.race([promise, delay(END_NOTICE_MS, undefined, { ref: false })])
  const reason: unknown = life.ended.aborted ? life.ended.reason : undefined
  const message = reason instanceof Error ? reason.message : 'The connection to the inference engine broke'
  return new PartLost(message, { cause, ...(isRefused(cause) && { request: 'unsent' as const }) })
}

function isRefused(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED'
}

/** @throws the first error: a refusal after it only says that the same request has ended the server. */
async function retryTransport<Reply>(
  life: Life<string>,
  signal: AbortSignal,
  send: () => Promise<Reply>,
): Promise<Reply> {
  let first: unknown
  for (let attempt = 1; ; attempt++) {
    try {
      return await send()
    } catch (error) {
      first ??= error
      const isOver = signal.aborted || life.ended.aborted || isRefused(error)
      if (attempt >= TRANSPORT_TRIES || isOver) throw first
    }
  }
}
