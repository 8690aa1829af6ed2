import { setTimeout as delay } from 'node:timers/promises'
import pRetry from 'p-retry'
import { request } from 'undici'
import { z } from 'zod'
import { messageOf } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { Telemetry } from '../../telemetry.ts'
import type { MemoryBudget } from './memory-budget.ts'
import { EngineProcessLost, type EngineReply, type Inference, type InferenceProcess } from './port.ts'
import { type Instance, type InstanceHooks, supervise } from './supervisor.ts'
import { createConnections, type Endpoint, makeToken, newAgent, postJson } from './vllm-connection.ts'

/** How often a remote server is probed; there is no other sign of its end. */
const CHECK_MS_MAX = 5_000

/**
 * Checks in a row that fail before its running requests are ended: a router that restarts answers again within seconds.
 */
const FAILED_CHECKS_MAX = 3
const CHECK_AGAIN_MS = 1_000

/** Longest pause before it is probed again: a probe costs nothing. */
const BACKOFF_MS_MAX = 5_000

/** Loading an adapter reads a few MB; a replica that takes longer counts as unavailable. */
const REPLICA_MS_MAX = 20_000

/** Characters of an unexpected reply that messages quote. */
const WORDS_MAX = 300

/** Requests that every replica must handle, since any of them may be chosen later. */
const PATHS_OF_EACH = ['/v1/load_lora_adapter', '/v1/unload_lora_adapter']

const ServedModels = z.object({ data: z.array(z.object({ id: z.string() })) })

export interface RemoteVllmOptions {
  name: string
  log: Log
  telemetry: Telemetry
  budget: MemoryBudget
  /** Where requests go: one server, or a router in front of several. */
  url: string
  /** The servers behind a router; empty where `url` is the server itself. */
  workers: readonly string[]
  /** A bearer key; undefined where none is required. */
  key: string | undefined
  servedModel: string
  /** Requests that it computes at a time, in all its replicas together. */
  requestsMax: number
  stallMs: number
  workspaceRoot: string
}

/**
 * A vLLM server that runs elsewhere. An outage ends its instance as the end of the process ends a child's; how
 * many of its replicas answer is up to its router.
 */
export function createRemoteVllm(options: RemoteVllmOptions): Inference & AsyncDisposable {
  const { name, url, workers, key, servedModel, stallMs } = options
  const agent = newAgent()
  const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` }
  const endpoint = { url, agent, headers, servedModel }
  const replicas = workers.map((worker) => ({ ...endpoint, url: worker }))
  const supervisor = supervise<Endpoint>({
    ...options,
    rank: 'keep',
    memoryBytes: () => 0,
    runInstance: (hooks) => runElsewhere(name, endpoint, stallMs, hooks),
    backoffMsMax: Math.min(BACKOFF_MS_MAX, stallMs),
  })
  const connectionOf = createConnections({ ...options, use: supervisor.use })
  const processes = new WeakMap<InferenceProcess, InferenceProcess>()

  function processOf(instance: Instance<Endpoint>): InferenceProcess {
    const connection = connectionOf(instance)
    if (replicas.length === 0) return connection
    const process = processes.get(connection) ?? withReplicas(connection, replicas)
    processes.set(connection, process)
    return process
  }

  return {
    status: supervisor.status,
    requestsMax: options.requestsMax,
    running() {
      const instance = supervisor.current()
      return instance && processOf(instance)
    },
    ready: async (signal) => processOf(await supervisor.ready(signal)),
    async [Symbol.asyncDispose]() {
      await supervisor[Symbol.asyncDispose]()
      await agent.destroy()
    },
  }
}

/** From the first token to the first probe that fails. */
async function runElsewhere(
  name: string,
  endpoint: Endpoint,
  stallMs: number,
  { stopping, onReady }: InstanceHooks<Endpoint>,
): Promise<string> {
  const ended = new AbortController()
  const within = (): AbortSignal => AbortSignal.any([stopping, AbortSignal.timeout(stallMs)])
  const replace = (reason: string): void => ended.abort(new EngineProcessLost(`${name} is lost: ${reason}`))
  let checking: Promise<void> | undefined
  const check = (): Promise<void> => {
    const retry = { retries: FAILED_CHECKS_MAX - 1, factor: 1, minTimeout: CHECK_AGAIN_MS, unref: true }
    checking ??= pRetry(() => assertServed(endpoint, within()), { ...retry, signal: ended.signal })
      .catch((error: unknown) => replace(causeOf(endpoint, error)))
      .finally(() => {
        checking = undefined
      })
    return checking
  }
  try {
    await assertServed(endpoint, within())
    await makeToken(endpoint, within())
  } catch (error) {
    return `${name} cannot be used: ${causeOf(endpoint, error)}`
  }
  const stop = (): void => ended.abort(stopping.reason)
  if (stopping.aborted) stop()
  else stopping.addEventListener('abort', stop, { once: true })
  const isAlive = (): boolean => !ended.signal.aborted
  onReady({ ready: endpoint, isAlive, ended: ended.signal, replace, suspect: () => void check() })
  const pauseMs = Math.min(CHECK_MS_MAX, stallMs / 2)
  while (isAlive()) {
    await delay(pauseMs, undefined, { signal: ended.signal, ref: false }).catch(() => {})
    if (isAlive()) await check()
  }
  stopping.removeEventListener('abort', stop)
  return messageOf(ended.signal.reason)
}

/** @throws Error when the server does not answer, or serves another model. */
async function assertServed(
  { url, agent, headers, servedModel }: Endpoint,
  signal: AbortSignal,
): Promise<void> {
  const reply = await request(`${url}/v1/models`, { headers, signal, dispatcher: agent })
  const text = await reply.body.text()
  if (reply.statusCode !== 200)
    throw new Error(`it answers ${reply.statusCode} to /v1/models: ${text.slice(0, WORDS_MAX)}`)
  const ids = ServedModels.parse(JSON.parse(text)).data.map((model) => model.id)
  if (ids.includes(servedModel)) return
  throw new Error(
    `it serves ${ids.join(', ')}, and HEDDLE_BASE_MODEL is ${servedModel}: start it with --served-model-name`,
  )
}

function causeOf({ url }: Endpoint, error: unknown): string {
  return `${url}: ${messageOf(error)}`
}

/** Sends to every replica what each must handle; one that is unavailable gets it later, when it is found to lack it. */
function withReplicas(router: InferenceProcess, replicas: readonly Endpoint[]): InferenceProcess {
  async function toEach(path: string, body: string, signal: AbortSignal): Promise<EngineReply> {
    const within = AbortSignal.any([signal, AbortSignal.timeout(REPLICA_MS_MAX)])
    const answers = await Promise.allSettled(
      replicas.map(async (replica) => {
        const reply = await postJson(replica, path, body, within)
        return { status: reply.statusCode, text: await reply.body.text() }
      }),
    )
    signal.throwIfAborted()
    const given = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
    // A failure takes precedence over a success, and a success over replicas that had the adapter already.
    const chosen = given.find(isFailure) ?? given.find(({ status }) => status === 200) ?? given[0]
    if (chosen === undefined) throw new EngineProcessLost('No replica of the inference engine can be reached')
    return { status: chosen.status, read: async (onChunk) => onChunk(Buffer.from(chosen.text)) }
  }

  return {
    pathOf: router.pathOf,
    post: (path, body, signal) =>
      PATHS_OF_EACH.includes(path) ? toEach(path, body, signal) : router.post(path, body, signal),
  }
}

/** A replica that has the adapter already answers with an error. */
function isFailure({ status, text }: { status: number; text: string }): boolean {
  return status !== 200 && !text.includes('already been loaded')
}
