import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { request } from 'undici'
import type { Log } from '../../log.ts'
import type { Telemetry } from '../../telemetry.ts'
import type { MemoryBudget } from './memory-budget.ts'
import type { Inference } from './port.ts'
import type { StartedServer, StartHooks } from './program.ts'
import { runProgram } from './program-instance.ts'
import { type Sleep, type SleepMemory, supervise } from './supervisor.ts'
import { createConnections, type Endpoint, makeToken, newAgent, postJson } from './vllm-connection.ts'

/** How often a starting server is probed. */
const START_POLL_MS = 200

/** A server answers late while it loads; then it is probed again. */
const HEALTH_MS_MAX = 5_000

/** As many as cannot be guessed. */
const KEY_BYTES = 32

export interface VllmOptions {
  name: string
  log: Log
  telemetry: Telemetry
  budget: MemoryBudget
  rank: 'keep' | 'stop-when-idle'
  memoryBytes: () => number
  /** Measures `memoryBytes`, before a start that needs it. */
  measure?: () => Promise<void>
  /** Starts the program, which requires this bearer key. */
  start: (key: string) => (hooks: StartHooks) => Promise<StartedServer>
  /** The name under which the base model is served. */
  servedModel: string
  /** Requests that it computes at a time, in all its replicas together. */
  requestsMax: number
  /** A server that has not produced a byte for this long, although requests wait, counts as hanging. */
  stallMs: number
  workspaceRoot: string
  /** Of one that sleeps where it would be ended to make room; ended where absent. */
  sleep?: SleepMemory | undefined
}

/** A vLLM server, checked by its output. */
export function createVllm(options: VllmOptions): Inference & AsyncDisposable {
  const agent = newAgent()
  // The port can be reached by every program and every browser of its machine, or its network.
  const key = randomBytes(KEY_BYTES).toString('base64url')
  const headers = { authorization: `Bearer ${key}` }
  const endpoint = { agent, headers, servedModel: options.servedModel }
  const instance = {
    name: options.name,
    log: options.log,
    // It answers several callers at once.
    callersLines: () => [],
    start: options.start(key),
    untilReady: ({ url }: StartedServer, ended: AbortSignal) => untilAnswering({ ...endpoint, url }, ended),
  }
  const supervisor = supervise<Endpoint>({
    ...options,
    runInstance: (hooks) => runProgram(instance, hooks),
    sleep: options.sleep && sleepOf(options.sleep),
  })
  const connectionOf = createConnections({
    ...options,
    use: supervisor.use,
    isPaused: () => supervisor.status().state !== 'ready',
  })

  return {
    status: supervisor.status,
    requestsMax: options.requestsMax,
    running() {
      const instance = supervisor.current()
      return instance && connectionOf(instance)
    },
    ready: async (signal) => connectionOf(await supervisor.ready(signal)),
    async [Symbol.asyncDispose]() {
      await supervisor[Symbol.asyncDispose]()
      await agent.destroy()
    },
  }
}

/** Wire: paths of `engine/src/engine/inference/sleeping.py`. */
function sleepOf(memory: SleepMemory): Sleep<Endpoint> {
  async function ask(endpoint: Endpoint, path: string, signal: AbortSignal): Promise<void> {
    const { statusCode, body } = await postJson(endpoint, path, '{}', signal)
    const text = await body.text()
    if (statusCode !== 200) throw new Error(`it answers ${statusCode} to ${path}: ${text}`)
  }
  return {
    ...memory,
    begin: ({ ready }, signal) => ask(ready, '/heddle/sleep', signal),
    async end({ ready: endpoint }, signal) {
      await ask(endpoint, '/heddle/wake', signal)
      await makeToken(endpoint, signal)
    },
  }
}

/** Resolves once the server is healthy and has made a first token, which takes seconds. */
async function untilAnswering(endpoint: Endpoint, ended: AbortSignal): Promise<Endpoint> {
  for (;;) {
    ended.throwIfAborted()
    const healthy = await request(`${endpoint.url}/health`, {
      dispatcher: endpoint.agent,
      signal: AbortSignal.any([ended, AbortSignal.timeout(HEALTH_MS_MAX)]),
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
  await makeToken(endpoint, ended)
  return endpoint
}
