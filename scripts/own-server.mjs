/** Runs a Heddle for programs that start the server, run a client against it, and stop it again. */
import { execFileSync, spawn } from 'node:child_process'
import { createWriteStream, mkdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { showProgress } from './progress.mjs'
import { pythonOf } from './python-env.mjs'
import { environmentFolder, ROOT } from './setup.mjs'

/** Any key is accepted in local mode; this one has the length that W&B clients require. */
export const KEY = `local-${'0'.repeat(40)}`

/** How long the engine may take to start; it takes about half a minute on two cores. */
const ENGINE_WAIT_MS = 300_000

/** Lines of the server's log that explain a failure. */
const LOG_LINES = 15

/** The runtime that the packages bring along. */
export const NODE = join(ROOT, 'node_modules/.bin/node')

const STOP_SIGNALS = ['SIGINT', 'SIGTERM']

/** Starts the server on a port with a data folder; its log is kept there. */
export function startServer({ port, data, env = {} }) {
  mkdirSync(join(data, 'logs'), { recursive: true })
  const logFile = join(data, 'logs', 'server.log')
  const log = createWriteStream(logFile, { flags: 'a' })
  const child = spawn(NODE, [join(ROOT, 'src/main.ts')], {
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
  let lastError = ''
  let isStopping = false
  child.stdout.pipe(log, { end: false })
  child.stderr.on('data', (chunk) => {
    lastError = String(chunk).trim()
    log.write(chunk)
  })
  const stop = () => server.stop()
  const server = {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid,
    logFile,
    /** Why the server ended by itself; undefined while it runs and after `stop`. */
    failure: undefined,
    stop() {
      isStopping = true
      child.kill('SIGTERM')
    },
    closed: new Promise((fulfil) => child.once('close', fulfil)),
  }
  child.once('close', (code, signal) => {
    for (const name of STOP_SIGNALS) process.off(name, stop)
    if (!isStopping)
      server.failure = lastError || `The server ended (${signal ?? code}):\n${lastLines(logFile)}`
  })
  for (const signal of STOP_SIGNALS) process.once(signal, stop)
  return server
}

function lastLines(file) {
  return readFileSync(file, 'utf8').trim().split('\n').slice(-LOG_LINES).join('\n')
}

/** Waits for the API, then for a first answer of the engine behind it. @throws Error with the cause when either fails. */
export async function engineReady(server, model) {
  const progress = showProgress('Starting vLLM and the trainer')
  const deadline = Date.now() + ENGINE_WAIT_MS
  let reason = 'the server does not answer'
  while (Date.now() < deadline && !server.failure) {
    const answer = await firstAnswer(server.url, model)
    if (answer.ok) return progress.done()
    reason = answer.reason
    progress.show(reason)
    await new Promise((wake) => setTimeout(wake, 300))
  }
  progress.failed()
  throw new Error(
    server.failure ??
      `The engine did not start within ${ENGINE_WAIT_MS / 1000} s: ${reason}\n${lastLines(server.logFile)}`,
  )
}

/** The server holds a chat request while the engine starts. */
async function firstAnswer(url, model) {
  try {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}` },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }], max_tokens: 1 }),
    })
    if (response.ok) return { ok: true }
    return { ok: false, reason: (await response.json()).detail ?? `status ${response.status}` }
  } catch {
    return { ok: false, reason: 'waiting for the server' }
  }
}

/** The address and key of the server's vLLM, from its command line and its environment. */
export function engineOf({ pid }) {
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
export async function runClient(server, [script, ...args], env = {}) {
  const address = ['--base-url', server.url, '--api-key', KEY]
  const program = script.endsWith('.mjs') ? NODE : pythonOf(environmentFolder('clients'))
  const child = spawn(program, [join(ROOT, script), ...address, ...args], {
    stdio: 'inherit',
    env: { ...process.env, ...env },
  })
  const ended = new Promise((fulfil, reject) => {
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
export function showAddresses({ url, logFile }) {
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
export async function freePort(wanted = 0) {
  return (await probe(wanted)) ?? (await probe(0))
}

function probe(port) {
  return new Promise((fulfil) => {
    const listener = createServer()
    listener.once('error', () => fulfil(undefined))
    listener.listen(port, '127.0.0.1', () => {
      const { port: bound } = listener.address()
      listener.close(() => fulfil(bound))
    })
  })
}
