import { randomBytes } from 'node:crypto'
import { createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { request } from 'undici'
import type { Log } from '../../log.ts'
import type { ChildSpec } from '../processes/child.ts'
import { runAsChild } from './child-instance.ts'
import type { MemoryBudget } from './memory-budget.ts'
import type { Inference } from './port.ts'
import { supervise } from './supervisor.ts'
import { createConnections, type Endpoint, makeToken, newAgent } from './vllm-connection.ts'

/** How often a starting server is probed. */
const START_POLL_MS = 200

/** A server answers late while it loads; then it is probed again. */
const HEALTH_MS_MAX = 5_000

/** As many as cannot be guessed. */
const KEY_BYTES = 32

export interface VllmOptions {
  name: string
  log: Log
  budget: MemoryBudget
  rank: 'keep' | 'stop-when-idle'
  memoryBytes: () => number
  /** Measures `memoryBytes`, before a start that needs it. */
  measure?: () => Promise<void>
  /** The program for one port, which requires this bearer key. */
  spec: (port: number, key: string) => ChildSpec
  /** The name under which the base model is served. */
  servedModel: string
  /** Requests that it computes at a time, in all its replicas together. */
  requestsMax: number
  /** A server that has not produced a byte for this long, although requests wait, counts as hanging. */
  stallMs: number
  workspaceRoot: string
}

/** A vLLM server as a child process, checked by its output. */
export function createVllm(options: VllmOptions): Inference & AsyncDisposable {
  const agent = newAgent()
  // The port can be reached by every program and every browser of this machine.
  const key = randomBytes(KEY_BYTES).toString('base64url')
  const headers = { authorization: `Bearer ${key}` }
  const endpoint = { agent, headers, servedModel: options.servedModel }
  let port = 0
  const instance = {
    name: options.name,
    log: options.log,
    async spec() {
      port = await freePort()
      return options.spec(port, key)
    },
    untilReady: (_child: unknown, ended: AbortSignal) =>
      untilAnswering({ ...endpoint, url: `http://127.0.0.1:${port}` }, ended),
  }
  const supervisor = supervise<Endpoint>({ ...options, runInstance: (hooks) => runAsChild(instance, hooks) })
  const connectionOf = createConnections({ ...options, use: supervisor.use })

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

/** A port that is free at this moment; vLLM exits if another program took it meanwhile. */
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
