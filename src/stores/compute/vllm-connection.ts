import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { Agent, type Dispatcher, request } from 'undici'
import { messageOf } from '../../errors.ts'
import { errorTypeOf, type Span, type SpanStart, type Telemetry } from '../../telemetry.ts'
import { EngineProcessLost, type EngineReply, type InferenceProcess } from './port.ts'
import type { Instance } from './supervisor.ts'

/**
 * Idle connections are kept this long; vLLM is configured to keep them far longer, so that it never closes one first.
 */
const KEEP_ALIVE_MS = 60_000

/** Reused connections to vLLM were seen to be reset; a request without any byte of an answer is sent again. */
const TRANSPORT_TRIES = 3

/** A server whose connections break has usually ended; its end is awaited for this long. */
const END_NOTICE_MS = 3_000

/** How often a running server is checked. */
const WATCH_MS = 5_000

/** An idle server must produce one token this often, to prove that its engine still computes. */
const IDLE_PROBE_MS = 60_000

/** Where a vLLM server answers. */
export interface Endpoint {
  url: string
  agent: Agent
  /** Sent with every request. */
  headers: Record<string, string>
  /** The name under which the base model is served. */
  servedModel: string
}

export interface ConnectionOptions {
  /** A server that has computed nothing for this long, although requests wait, counts as hanging. */
  stallMs: number
  /** Counts a user of the server until the returned function is called. */
  use: () => () => void
  /** The root of the workspace, as the server sees it: a path, or an address of S3. */
  workspaceRoot: string
  /** Records what is asked of the server, which learns of which request that is a part. */
  telemetry: Telemetry
  /** Whether it is to compute nothing for now. */
  isPaused?: () => boolean
}

export function newAgent(): Agent {
  return new Agent({
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    // A long generation is not an error; the check below ends a server that hangs.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
}

/**
 * Tells a server that sleeps while nothing is asked of it not to wake (engine/src/engine/inference/sleep_when_idle.py).
 */
const PROBE = { 'x-heddle-probe': '1' }

/** Makes the engine behind the HTTP server produce a token, unless it sleeps. @throws Error when it does not. */
export async function makeToken(endpoint: Endpoint, signal: AbortSignal): Promise<void> {
  const body = JSON.stringify({ model: endpoint.servedModel, prompt: 'a', max_tokens: 1 })
  const reply = await postJson(endpoint, '/v1/completions', body, signal, PROBE)
  const text = await reply.body.text()
  if (reply.statusCode === 200) return
  const message = `it answers ${reply.statusCode} to a prompt: ${text}`
  throw REFUSALS.includes(reply.statusCode) ? new EngineBusy(message) : new Error(message)
}

/** What a server that computes says within moments, even where it has much to do. */
const METRICS_MS_MAX = 5_000

/** A metric of vLLM: tokens that it has read or made since it started. */
const TOKENS_LINE = /^vllm:(?:prompt|generation)_tokens_total(?:\{.*\})? (\S+)/gm

/** Tokens that a server says it has computed so far; undefined where it does not say. Asks nothing of its engine. */
async function computedTokens({ url, agent, headers }: Endpoint): Promise<number | undefined> {
  try {
    const signal = AbortSignal.timeout(METRICS_MS_MAX)
    const reply = await request(`${url}/metrics`, { headers, signal, dispatcher: agent })
    const values = [...(await reply.body.text()).matchAll(TOKENS_LINE)].map(([, value]) => Number(value))
    return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value)
  } catch {
    return undefined
  }
}

/** What a server or a router answers that has too much to do for now. */
const REFUSALS = [429, 503]

/** The engine takes no prompt for now, which does not mean that it is lost. */
class EngineBusy extends Error {}

export function postJson(
  { url, agent, headers }: Endpoint,
  path: string,
  body: string,
  signal: AbortSignal,
  more: Record<string, string> = {},
): Promise<Dispatcher.ResponseData> {
  return request(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers, ...more },
    body,
    signal,
    dispatcher: agent,
  })
}

/** One connection for each instance of a server: what was loaded into it is gone when it ends. */
export function createConnections(
  options: ConnectionOptions,
): (instance: Instance<Endpoint>) => InferenceProcess {
  const processes = new WeakMap<Instance<Endpoint>, InferenceProcess>()
  return (instance) => {
    const process = processes.get(instance) ?? connect(instance, options)
    processes.set(instance, process)
    return process
  }
}

function connect(
  instance: Instance<Endpoint>,
  { stallMs, use, workspaceRoot, telemetry, isPaused = () => false }: ConnectionOptions,
): InferenceProcess {
  const progress = { inFlight: 0, lastByteAt: performance.now(), lastProofAt: performance.now() }
  void watch(instance, progress, { stallMs, isPaused })

  /** Counts a request until its reply is closed. */
  function enter(span: Span): () => void {
    const release = use()
    if (progress.inFlight === 0) progress.lastByteAt = performance.now()
    progress.inFlight++
    return () => {
      progress.inFlight--
      release()
      span.end()
    }
  }

  return {
    pathOf: (name) => `${workspaceRoot}/${name}`,

    async post(path, body, signal) {
      // It may have been stopped since it was handed out, while it had no users.
      if (instance.ended.aborted)
        throw new EngineProcessLost(messageOf(instance.ended.reason), { request: 'unsent' })
      if (isPaused())
        throw new EngineProcessLost('The inference server gave way to another one', { request: 'unsent' })
      const span = telemetry.child(askedOf(instance.ready.url, path))
      const leave = enter(span)
      try {
        const either = AbortSignal.any([signal, instance.ended])
        const reply = await retryTransport(instance, signal, () =>
          postJson(instance.ready, path, body, either, span.headers()),
        )
        progress.lastByteAt = performance.now()
        span.set({ 'http.response.status_code': reply.statusCode })
        if (reply.statusCode >= 400) span.fail(String(reply.statusCode))
        // A client that disconnects may never read the body: the request ends when the body closes, and an error
        // without a listener would end the process.
        reply.body.on('error', () => {})
        if (reply.body.closed) leave()
        else reply.body.once('close', leave)
        return {
          status: reply.statusCode,
          read: (onChunk) => read(reply.body, onChunk, { instance, progress, signal }),
        }
      } catch (error) {
        span.fail(errorTypeOf(error))
        leave()
        signal.throwIfAborted()
        throw await lossOf(instance, error)
      }
    },
  }
}

/** The paths that are asked have no ids in them. */
function askedOf(url: string, path: string): SpanStart {
  const { hostname, port } = new URL(url)
  return {
    name: `POST ${path}`,
    kind: 'client',
    attributes: {
      'http.request.method': 'POST',
      'url.path': path,
      'server.address': hostname,
      'server.port': port === '' ? undefined : Number(port),
    },
  }
}

interface Progress {
  inFlight: number
  lastByteAt: number
  /** When its engine was last seen to compute. */
  lastProofAt: number
}

interface Reading {
  instance: Instance<Endpoint>
  progress: Progress
  signal: AbortSignal
}

async function read(
  body: Readable,
  onChunk: Parameters<EngineReply['read']>[0],
  { instance, progress, signal }: Reading,
): Promise<void> {
  // What a listener throws would end the process, so it ends the reply instead.
  let refusal: { error: unknown } | undefined
  const refuse = (error: unknown): void => {
    refusal ??= { error }
    body.destroy()
  }
  body.on('data', (chunk: Uint8Array) => {
    if (refusal !== undefined) return
    prove(progress)
    try {
      const wait = onChunk(chunk)
      if (wait === undefined) return
      body.pause()
      wait.then(() => body.resume(), refuse)
    } catch (error) {
      refuse(error)
    }
  })
  try {
    await finished(body)
  } catch (error) {
    signal.throwIfAborted()
    // The error of the reader is not an error of the server.
    if (refusal !== undefined) throw refusal.error
    throw await lossOf(instance, error)
  }
}

/** Ends an instance that makes no progress. */
async function watch(
  instance: Instance<Endpoint>,
  progress: Progress,
  { stallMs, isPaused }: { stallMs: number; isPaused: () => boolean },
): Promise<void> {
  // Half the stall time of silence starts a probe while requests wait; the probe then has the other half.
  const suspicious = stallMs / 2
  while (!instance.ended.aborted) {
    const pause = Math.min(WATCH_MS, suspicious)
    await delay(pause, undefined, { signal: instance.ended, ref: false }).catch(() => {})
    const now = performance.now()
    if (isPaused()) {
      progress.lastProofAt = now
      continue
    }
    const silent = progress.inFlight > 0 && now - progress.lastByteAt > suspicious
    if (!instance.ended.aborted && (silent || now - progress.lastProofAt > IDLE_PROBE_MS))
      await probe(instance, progress, stallMs)
  }
}

/** A prompt queues behind all others, so one without an answer means nothing while others are computed. */
async function probe(instance: Instance<Endpoint>, progress: Progress, stallMs: number): Promise<void> {
  const begunAt = performance.now()
  const before = computedTokens(instance.ready)
  const signal = AbortSignal.any([instance.ended, AbortSignal.timeout(stallMs)])
  try {
    await retryTransport(instance, signal, () => makeToken(instance.ready, signal))
    prove(progress)
  } catch (error) {
    if (error instanceof EngineBusy || instance.ended.aborted) return
    // The bytes last, which may wait to be read since this process was busy.
    if (
      signal.aborted &&
      ((await hasComputedSince(instance.ready, before)) || progress.lastProofAt > begunAt)
    ) {
      prove(progress)
      return
    }
    instance.replace(signal.aborted ? `it hung: no token for ${stallMs / 1000} s` : messageOf(error))
  }
}

/** Whether a server has computed tokens since. */
async function hasComputedSince(endpoint: Endpoint, before: Promise<number | undefined>): Promise<boolean> {
  const [now, then] = [await computedTokens(endpoint), await before]
  return now !== undefined && then !== undefined && now > then
}

/** The engine computes. */
function prove(progress: Progress): void {
  progress.lastByteAt = performance.now()
  progress.lastProofAt = progress.lastByteAt
}

/** @throws the first error: a later refused connection only means that the same request has ended the server. */
async function retryTransport<Reply>(
  instance: Instance<Endpoint>,
  signal: AbortSignal,
  send: () => Promise<Reply>,
): Promise<Reply> {
  let first: unknown
  for (let attempt = 1; ; attempt++) {
    try {
      return await send()
    } catch (error) {
      first ??= error
      const isOver = signal.aborted || instance.ended.aborted || isRefused(error)
      if (attempt >= TRANSPORT_TRIES || isOver) throw first
    }
  }
}

/** Says why a connection broke. */
async function lossOf(instance: Instance<Endpoint>, cause: unknown): Promise<EngineProcessLost> {
  instance.suspect()
  await delay(END_NOTICE_MS, undefined, { signal: instance.ended, ref: false }).catch(() => {})
  const reason: unknown = instance.ended.aborted ? instance.ended.reason : undefined
  const message = reason instanceof Error ? reason.message : 'The connection to the inference engine broke'
  return new EngineProcessLost(message, { cause, ...(isRefused(cause) && { request: 'unsent' as const }) })
}

function isRefused(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED'
}
