/** Runs a Heddle for programs that start the server, run a client against it, and stop it again. */
import { execFileSync, spawn } from 'node:child_process'
import { createWriteStream, mkdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { z } from 'zod'
import { STOP_SIGNALS } from '../src/stop-signals.ts'
import { showProgress } from './progress.ts'
import { pythonIn } from './python-environments.ts'
import { NODE, ROOT } from './repository.ts'
import { SERVER_PROGRAM } from './server-build.ts'

/** A server in a process of its own. */
export interface OwnServer {
  readonly url: string
  readonly pid: number
  readonly logFile: string
  /** Why the server ended by itself; undefined while it runs and after `stop`. */
  readonly failure: string | undefined
  stop(): void
  /** Resolves when the process has ended. */
  readonly closed: Promise<void>
}

/** Any key is accepted in local mode; this one has the length that W&B clients require. */
export const KEY = `local-${'0'.repeat(40)}`

/** Of a request with a body of JSON to such a server. */
export const JSON_HEADERS = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }

/** How long the engine may take to start; it takes about half a minute on two cores. */
const ENGINE_WAIT_MS = 300_000

/** Lines of the server's log that explain a failure. */
const LOG_LINES = 15

/** Starts the server, which set-up has built, on a port with a data folder; its log is kept there. */
export function startServer({
  port,
  data,
  env = {},
}: {
  port: number
  data: string
  env?: NodeJS.ProcessEnv
}): OwnServer {
  mkdirSync(join(data, 'logs'), { recursive: true })
  const logFile = join(data, 'logs', 'server.log')
  const log = createWriteStream(logFile, { flags: 'a' })
  const child = spawn(NODE, [SERVER_PROGRAM], {
    cwd: ROOT,
    env: {
      ...process.env,
      HEDDLE_PORT: String(port),
      HEDDLE_DATA: data,
      HEDDLE_LOG_FORMAT: 'json',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, so that Ctrl-C reaches the server once, from here.
    detached: true,
  })
  const { pid } = child
  if (pid === undefined) throw new Error(`${NODE} could not be started`)
  let lastError = ''
  let isStopping = false
  let failure: string | undefined
  child.stdout.pipe(log, { end: false })
  child.stderr.on('data', (chunk) => {
    lastError = String(chunk).trim()
    log.write(chunk)
  })
  function stop(): void {
    isStopping = true
    child.kill('SIGTERM')
  }
  const closed = new Promise<void>((fulfil) => {
    child.once('close', (code, signal) => {
      for (const name of STOP_SIGNALS) process.off(name, stop)
      if (!isStopping) failure = lastError || `The server ended (${signal ?? code}):\n${lastLines(logFile)}`
      fulfil()
    })
  })
  // Not only the first: Ctrl-C comes from the terminal and again from npm.
  for (const signal of STOP_SIGNALS) process.on(signal, stop)
  return {
    url: `http://127.0.0.1:${port}`,
    pid,
    logFile,
    get failure() {
      return failure
    },
    stop,
    closed,
  }
}

function lastLines(file: string): string {
  return readFileSync(file, 'utf8').trim().split('\n').slice(-LOG_LINES).join('\n')
}

/**
 * Waits until the engine answers for a model. @throws Error with the cause when the server or its engine fails.
 * @param model the server's default when absent
 */
export async function engineReady(server: OwnServer, model?: string): Promise<void> {
  const progress = showProgress('Starting vLLM and the trainer')
  const deadline = Date.now() + ENGINE_WAIT_MS
  let reason = 'the server does not answer'
  while (Date.now() < deadline && !server.failure) {
    const missing = await missingAnswer(server.url, model)
    if (missing === undefined) return progress.done()
    reason = missing
    progress.show(reason)
    await new Promise((wake) => setTimeout(wake, 300))
  }
  progress.failed()
  throw new Error(
    server.failure ??
      `The engine did not start within ${ENGINE_WAIT_MS / 1000} s: ${reason}\n${lastLines(server.logFile)}`,
  )
}

const Refusal = z.object({ detail: z.string().optional() })

/** Why there is no answer yet, if so. The server holds a chat request while the engine starts. */
async function missingAnswer(url: string, model: string | undefined): Promise<string | undefined> {
  try {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}` },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }], max_tokens: 1 }),
    })
    if (response.ok) return undefined
    return Refusal.parse(await response.json()).detail ?? `status ${response.status}`
  } catch {
    return 'waiting for the server'
  }
}

/** The address and key of the server's vLLM, from its command line and its environment. */
export function engineOf({ pid }: OwnServer): { url: string; key: string } {
  const processes = execFileSync('ps', ['eww', '-Ao', 'ppid=,args='], { encoding: 'utf8' }).split('\n')
  const launcher = processes.find(
    (line) => Number.parseInt(line, 10) === pid && line.includes('engine.serve'),
  )
  const port = /--port (\d+)/.exec(launcher ?? '')?.[1]
  const key = /VLLM_API_KEY=(\S+)/.exec(launcher ?? '')?.[1]
  if (port === undefined || key === undefined) throw new Error('The server has started no vLLM')
  return { url: `http://127.0.0.1:${port}`, key }
}

/**
 * Runs a program of Node, or of Python with the clients' packages, against the server; resolves with its status.
 * @throws Error with the cause as soon as the server ends by itself.
 */
export async function runClient(
  server: OwnServer,
  [script, ...args]: readonly [script: string, ...args: string[]],
  env: NodeJS.ProcessEnv = {},
): Promise<number> {
  const address = ['--base-url', server.url, '--api-key', KEY]
  const program = script.endsWith('.py') ? pythonIn('clients') : NODE
  const child = spawn(program, [join(ROOT, script), ...address, ...args], {
    stdio: 'inherit',
    env: { ...process.env, ...env },
  })
  const ended = new Promise<number>((fulfil, reject) => {
    child.once('error', reject)
    child.once('close', (code) => fulfil(code ?? 1))
  })
  // A client would keep trying to reach a server that is gone.
  void server.closed.then(() => child.kill('SIGTERM'))
  const status = await ended
  if (server.failure) throw new Error(server.failure)
  return status
}

/** Prints where to look, and how other clients find the server. */
export function showAddresses({ url, logFile }: OwnServer): void {
  process.stdout.write(`
Look at   ${url}/               where to begin
          ${url}/openapi.json   the API
          ${logFile}   the server's log

Point your own clients here:
  export WANDB_BASE_URL=${url}
  export WANDB_API_KEY=${KEY}
  export OPENAI_BASE_URL=${url}/v1
`)
}

/** A free port: the one wanted if it is. */
export async function freePort(wanted = 0): Promise<number> {
  const port = (await probe(wanted)) ?? (await probe(0))
  if (port === undefined) throw new Error('There is no free port')
  return port
}

function probe(port: number): Promise<number | undefined> {
  return new Promise((fulfil) => {
    const listener = createServer()
    listener.once('error', () => fulfil(undefined))
    listener.listen(port, '127.0.0.1', () => {
      const address = listener.address()
      listener.close(() => fulfil(typeof address === 'object' ? address?.port : undefined))
    })
  })
}
