/**
 * `npm run demo`: sets everything up, starts Heddle, trains the tiny model through its API with the real clients, and
 * keeps serving. `npm run demo -- --help` lists the options.
 */
import { spawn } from 'node:child_process'
import { createWriteStream, mkdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { showProgress } from './progress.mjs'
import { pythonOf } from './python-env.mjs'
import { environmentFolder, ROOT, setUp } from './setup.mjs'

/** Any key does in local mode; this one has the length that W&B clients ask for. */
const KEY = `local-${'0'.repeat(40)}`

/** How long the engine may take to come up before the demo gives up; it takes about half a minute on two cores. */
const ENGINE_WAIT_MS = 300_000

const HELP = `Usage: npm run demo -- [--exit] [--task sums|preference] [--steps N] [--seed N] [--base-model ID] [--port N]

Trains a small chat model by reinforcement learning through Heddle's own API, with openpipe-art, openai and weave.
  --exit        end when training is done: status 0 if the held-out reward rose, 1 if not
  --task        sums (verifiable, the default) or preference
  --steps       training steps (default 15)
  --seed        seed of the questions (default 0)
  --base-model  an id of engine/models, a local folder or a Hugging Face id (default heddle/loom-tiny)
  --port        port to serve on (default 6060, or a free one where that is taken)
The data is kept in HEDDLE_DATA (default ./data).
`

const options = {
  exit: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
  port: { type: 'string', default: process.env.HEDDLE_PORT ?? '6060' },
  task: { type: 'string' },
  steps: { type: 'string' },
  seed: { type: 'string' },
  'base-model': { type: 'string' },
}

async function demo() {
  const { values } = parseArgs({ options })
  if (values.help) return process.stdout.write(HELP)
  await setUp(['packages', 'engine', 'clients'])
  const server = await startServer(await freePort(Number(values.port)), values['base-model'])
  let status = 1
  try {
    await engineReady(server, values['base-model'])
    status = await train(server.url, values)
    showAddresses(server)
    if (!values.exit) {
      process.stdout.write('\nServing until Ctrl-C.\n')
      await server.closed
    }
  } finally {
    server.stop()
    await server.closed
  }
  process.exitCode = status
}

async function startServer(port, baseModel) {
  const data = resolve(process.env.HEDDLE_DATA ?? join(ROOT, 'data'))
  mkdirSync(join(data, 'logs'), { recursive: true })
  const logFile = join(data, 'logs', 'server.log')
  const log = createWriteStream(logFile, { flags: 'a' })
  const child = spawn(join(ROOT, 'node_modules/.bin/node'), [join(ROOT, 'src/main.ts')], {
    cwd: ROOT,
    env: {
      ...process.env,
      HEDDLE_PORT: String(port),
      HEDDLE_DATA: data,
      HEDDLE_LOG_FORMAT: 'json',
      ...(baseModel && { HEDDLE_BASE_MODEL: baseModel }),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, so that Ctrl-C reaches the server once, from here.
    detached: true,
  })
  let lastError = ''
  child.stdout.pipe(log)
  child.stderr.on('data', (chunk) => {
    lastError = String(chunk).trim()
    log.write(chunk)
  })
  const server = {
    url: `http://127.0.0.1:${port}`,
    logFile,
    failure: undefined,
    stop: () => child.kill('SIGTERM'),
    closed: new Promise((fulfil) => child.once('close', fulfil)),
  }
  child.once('close', (code) => {
    server.failure = lastError || `The server ended with status ${code}; see ${logFile}`
  })
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => server.stop())
  return server
}

/** Waits for the API, then for a first answer of the engine behind it. @throws Error with the cause when either fails. */
async function engineReady(server, baseModel) {
  const progress = showProgress('Starting vLLM and the trainer')
  const deadline = Date.now() + ENGINE_WAIT_MS
  let reason = 'the server does not answer'
  while (Date.now() < deadline && !server.failure) {
    const answer = await firstAnswer(server.url, baseModel)
    if (answer.ok) return progress.done()
    reason = answer.reason
    progress.show(reason)
    await new Promise((wake) => setTimeout(wake, 300))
  }
  progress.failed()
  throw new Error(
    server.failure ??
      `The engine did not start within ${ENGINE_WAIT_MS / 1000} s: ${reason} (${server.logFile})`,
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

function train(url, values) {
  const passed = ['task', 'steps', 'seed', 'base-model'].flatMap((name) =>
    values[name] === undefined ? [] : [`--${name}`, values[name]],
  )
  const python = pythonOf(environmentFolder('clients'))
  const child = spawn(python, [join(ROOT, 'demo/train.py'), '--base-url', url, '--api-key', KEY, ...passed], {
    stdio: 'inherit',
  })
  return new Promise((fulfil, reject) => {
    child.once('error', reject)
    child.once('close', (code) => fulfil(code ?? 1))
  })
}

function showAddresses({ url, logFile }) {
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

function freePort(wanted) {
  const probe = (port) =>
    new Promise((fulfil) => {
      const listener = createServer()
      listener.once('error', () => fulfil(undefined))
      listener.listen(port, '127.0.0.1', () => {
        const { port: bound } = listener.address()
        listener.close(() => fulfil(bound))
      })
    })
  return probe(wanted).then((port) => port ?? probe(0))
}

await demo().catch((error) => {
  process.stderr.write(`\n${error.message}\n`)
  process.exitCode = 1
})
