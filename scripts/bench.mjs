/**
 * `npm run bench -- NAME`: sets everything up, starts a Heddle of its own on a free port with an empty data folder, runs
 * one of the benchmarks in `bench/` against it, and stops it again. `npm run bench -- --help` lists them.
 */
import { spawn } from 'node:child_process'
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { showProgress } from './progress.mjs'
import { pythonOf } from './python-env.mjs'
import { environmentFolder, ROOT, setUp } from './setup.mjs'

/** Any key does in local mode; this one has the length that W&B clients ask for. */
const KEY = `local-${'0'.repeat(40)}`

/** How long the engine may take to come up before the benchmark gives up; it takes about half a minute on two cores. */
const ENGINE_WAIT_MS = 300_000

/** Lines of the server's log that explain a failure: the log goes with the data folder. */
const LOG_LINES = 30

const BENCHES = {
  train: { needs: ['packages', 'engine', 'clients', 'bench'], options: trainOptions },
  learn: { needs: ['packages', 'engine', 'clients'], options: () => [] },
}

const HELP = `Usage: npm run bench -- train [--steps N] [--warm-up N] [--poll-ms N] [--json FILE]
       npm run bench -- learn [--tasks NAME …] [--seeds N …] [--steps N] [--json FILE]

  train  the time of one reinforcement-learning step, its parts, and the same step of TRL's GRPOTrainer
           --steps    measured steps of each kind (default 8)
           --warm-up  steps of each kind before those (default 2)
           --poll-ms  pause between two looks at a job's events (default 10)
  learn  held-out results before and after training; ends with status 1 unless each of them improved enough
           --tasks    of sums, preference, phone and notation (default all)
           --seeds    one run of each task for each seed (default 0 1 2)
           --steps    steps of reinforcement learning (default: each task's own)

  --json FILE  also writes all numbers there

The server is started for the benchmark alone and its data is removed afterwards.
`

async function main() {
  const [name, ...passed] = process.argv.slice(2)
  if (!Object.hasOwn(BENCHES, name ?? '') || passed.includes('--help')) {
    process.stdout.write(HELP)
    process.exitCode = name === '--help' || passed.includes('--help') ? 0 : 2
    return
  }
  const bench = BENCHES[name]
  await setUp(bench.needs)
  const data = mkdtempSync(join(tmpdir(), 'heddle-bench-'))
  const server = await startServer(data)
  try {
    await engineReady(server)
    process.exitCode = await runPython(name, server, [...bench.options(data), ...passed])
  } finally {
    server.stop()
    await server.closed
    rmSync(data, { recursive: true, force: true })
  }
}

/** TRL runs on the engine's interpreter, with its own packages beside the engine's. */
function trainOptions(data) {
  return [
    ...['--trl-python', pythonOf(environmentFolder('engine'))],
    ...['--trl-path', sitePackagesOf(environmentFolder('bench'))],
    ...['--trl-log', join(data, 'trl.log')],
  ]
}

function sitePackagesOf(envFolder) {
  const version = /^version = (\d+\.\d+)/m.exec(readFileSync(join(envFolder, 'pyvenv.cfg'), 'utf8'))?.[1]
  return join(envFolder, 'lib', `python${version}`, 'site-packages')
}

async function startServer(data) {
  const port = await freePort()
  const logFile = join(data, 'server.log')
  const log = createWriteStream(logFile)
  const child = spawn(join(ROOT, 'node_modules/.bin/node'), [join(ROOT, 'src/main.ts')], {
    cwd: ROOT,
    env: {
      ...process.env,
      HEDDLE_PORT: String(port),
      HEDDLE_DATA: join(data, 'heddle'),
      HEDDLE_LOG_FORMAT: 'json',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, so that Ctrl-C reaches the server once, from here.
    detached: true,
  })
  child.stdout.pipe(log, { end: false })
  child.stderr.pipe(log, { end: false })
  const server = {
    url: `http://127.0.0.1:${port}`,
    hasEnded: false,
    isStopping: false,
    lastLines: () => readFileSync(logFile, 'utf8').trim().split('\n').slice(-LOG_LINES).join('\n'),
    stop() {
      server.isStopping = true
      child.kill('SIGTERM')
    },
    closed: new Promise((fulfil) => child.once('close', fulfil)),
  }
  child.once('error', (error) => log.write(`${error.message}\n`))
  child.once('close', () => {
    server.hasEnded = true
  })
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => server.stop())
  return server
}

/** Waits for a first answer of the engine. @throws Error with the end of the server's log when there is none. */
async function engineReady(server) {
  const progress = showProgress('Starting vLLM and the trainer')
  const deadline = Date.now() + ENGINE_WAIT_MS
  while (Date.now() < deadline && !server.hasEnded) {
    if (await answers(server.url)) return progress.done()
    await new Promise((wake) => setTimeout(wake, 300))
  }
  progress.failed()
  throw new Error(`The server did not answer:\n${server.lastLines()}`)
}

/** The server holds a chat request while the engine starts. */
async function answers(url) {
  try {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}` },
      body: JSON.stringify({ messages: [{ role: 'user', content: 'hi' }], max_tokens: 1 }),
    })
    await response.arrayBuffer()
    return response.ok
  } catch {
    return false
  }
}

function runPython(name, server, args) {
  const script = join(ROOT, 'bench', `${name}.py`)
  const address = ['--base-url', server.url, '--api-key', KEY]
  const child = spawn(pythonOf(environmentFolder('clients')), [script, ...address, ...args], {
    stdio: 'inherit',
    env: {
      ...process.env,
      PYTHONPATH: [join(ROOT, 'demo'), process.env.PYTHONPATH].filter(Boolean).join(delimiter),
      // The clients must not look for price lists on the internet, nor draw over the report.
      LITELLM_LOCAL_MODEL_COST_MAP: 'True',
      TQDM_DISABLE: '1',
      // With a key in the environment openpipe-art would open a W&B run as well; it is given its key as an argument.
      WANDB_API_KEY: undefined,
    },
  })
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => child.kill(signal))
  return new Promise((fulfil, reject) => {
    child.once('error', reject)
    child.once('close', (code) => {
      if (server.hasEnded && !server.isStopping)
        process.stderr.write(`The server ended:\n${server.lastLines()}\n`)
      fulfil(code ?? 1)
    })
  })
}

function freePort() {
  return new Promise((fulfil, reject) => {
    const listener = createServer()
    listener.once('error', reject)
    listener.listen(0, '127.0.0.1', () => {
      const { port } = listener.address()
      listener.close(() => fulfil(port))
    })
  })
}

await main().catch((error) => {
  process.stderr.write(`\n${error.message}\n`)
  process.exitCode = 1
})
