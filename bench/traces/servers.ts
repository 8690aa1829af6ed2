/**
 * The servers that are measured: each is started on a free port, over an empty folder, and stopped with all it started.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { freePort } from '../../scripts/own-server.ts'
import { pythonIn } from '../../scripts/python-environments.ts'
import { NODE, ROOT } from '../../scripts/repository.ts'
import { SERVER_PROGRAM } from '../../scripts/server-build.ts'
import { messageOf } from '../../src/errors.ts'

/**
 * `Before` is an earlier Heddle: the checkout that HEDDLE_BENCH_BEFORE names, with its packages installed. The others
 * are weave's own server, on a store of its own or on the ClickHouse that CLICKHOUSE_URL of its settings names, Phoenix
 * and MLflow.
 */
export type ServerName =
  | 'Heddle'
  | 'Before'
  | 'ClickHouse'
  | 'ClickHouse server'
  | 'SQLite'
  | 'Phoenix'
  | 'MLflow'

/** A server that is measured. */
export interface BenchServer {
  readonly name: ServerName
  /** Of its data; removed when it is stopped. */
  readonly folder: string
  /** Of its process and of the group of all that it started. */
  readonly pid: number
  readonly url: string
  /** From the start of its process to its first answer. */
  readonly startMs: number
  /** Ends it at once and leaves its folder as it is. */
  kill(): Promise<void>
  stop(): Promise<void>
  /** Ends it at once and removes its folder. */
  clear(): void
}

interface Command {
  command: readonly [program: string, ...args: string[]]
  env: Record<string, string>
  /** Whether it chooses its own port and prints its address. */
  printsUrl?: boolean
}

/** Environment variables. */
type Settings = Readonly<Record<string, string>>

type Child = ChildProcessByStdio<null, Readable, Readable>

/** Python servers of this size take up to a minute to start on two cores, longer where nothing is cached yet. */
const START_MS_MAX = 180_000

/** How long a server may take to stop by itself. */
const STOP_MS_MAX = 15_000

const LOOK_MS = 20

/** Some servers answer before the processes they start have settled; that work is not to meet the first requests. */
const QUIET_SHARE = 0.1
const QUIET_LOOK_MS = 1000
/** A machine with other load never becomes idle. */
const QUIET_MS_MAX = 20_000

/** Last lines of a server's output, to explain a failure. */
const LINES_KEPT = 30

/** The command of each server for a port and a folder. */
const COMMANDS: Record<ServerName, (port: number, folder: string, settings: Settings) => Command> = {
  Heddle: (port, folder) => heddle(ROOT, port, folder),
  Before: (port, folder) => heddle(earlierCheckout(), port, folder),
  ClickHouse: (_port, folder) => reference('clickhouse', join(folder, 'data')),
  'ClickHouse server': (_port, _folder, { CLICKHOUSE_URL: url = '' }) => reference('clickhouse-server', url),
  SQLite: (_port, folder) => reference('sqlite', join(folder, 'data')),
  Phoenix: (port, folder) => ({
    command: [peer('phoenix'), 'serve'],
    env: {
      PHOENIX_HOST: '127.0.0.1',
      PHOENIX_PORT: String(port),
      PHOENIX_GRPC_PORT: '0',
      PHOENIX_WORKING_DIR: folder,
      PHOENIX_TELEMETRY_ENABLED: 'false',
    },
  }),
  MLflow: (port, folder) => ({
    command: [
      peer('mlflow'),
      'server',
      ...['--host', '127.0.0.1', '--port', String(port)],
      ...['--backend-store-uri', `sqlite:///${join(folder, 'mlflow.db')}`],
      ...['--artifacts-destination', join(folder, 'artifacts')],
    ],
    env: { MLFLOW_DISABLE_TELEMETRY: 'true' },
  }),
}

function heddle(checkout: string, port: number, folder: string): Command {
  return {
    command: [NODE, programOf(checkout)],
    env: {
      HEDDLE_PORT: String(port),
      HEDDLE_DATA: join(folder, 'data'),
      HEDDLE_LOG_FORMAT: 'json',
      // Without Python environments there is no engine, which would take memory and time.
      HEDDLE_CACHE: join(folder, 'no-environments'),
    },
  }
}

/** As `npm start` runs it, or from its sources where the checkout has no build, as earlier ones. */
function programOf(checkout: string): string {
  const built = join(checkout, relative(ROOT, SERVER_PROGRAM))
  return existsSync(built) ? built : join(checkout, 'src/main.ts')
}

function earlierCheckout(): string {
  const checkout = process.env.HEDDLE_BENCH_BEFORE
  if (checkout === undefined) throw new Error('HEDDLE_BENCH_BEFORE names the checkout to compare with')
  return checkout
}

/** The implementation that the differential tests use. It chooses its own port and prints its address. */
function reference(store: 'clickhouse' | 'clickhouse-server' | 'sqlite', place: string): Command {
  const program = join(ROOT, 'tests/differential/reference_server.py')
  return {
    command: [pythonIn('reference'), program, store, place],
    env: { PYTHONDONTWRITEBYTECODE: '1', WEAVE_DISABLED: 'true' },
    printsUrl: true,
  }
}

const peer = (program: string): string => join(dirname(pythonIn('peers')), program)

/** What runs now; ended when the benchmark is, however that comes. */
const running = new Set<BenchServer>()
process.once('exit', () => {
  for (const server of running) server.clear()
})
// A second signal, as when a shell and the parent both send one, must not end the process in the middle of this.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1))

/**
 * Starts a server, over a given folder or a new one, with further settings.
 * @throws Error with the end of its output when it does not answer.
 */
export async function startServer(
  name: ServerName,
  folder = mkdtempSync(join(tmpdir(), 'heddle-bench-')),
  settings: Settings = {},
): Promise<BenchServer> {
  const port = await freePort()
  mkdirSync(folder, { recursive: true })
  const { command, env, printsUrl } = COMMANDS[name](port, folder, settings)
  const [program, ...args] = command
  const started = performance.now()
  const child = spawn(program, args, {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, ...env, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, because some of them start further processes.
    detached: true,
  })
  const { pid } = child
  if (pid === undefined) throw new Error(`${name}: ${program} could not be started`)
  const lines: string[] = []
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line)
      if (lines.length > LINES_KEPT) lines.shift()
    })
  }
  const signalGroup = (signal: NodeJS.Signals): void => {
    try {
      process.kill(-pid, signal)
    } catch {
      // The group has ended.
    }
  }
  let url = `http://127.0.0.1:${port}`
  let startMs = Number.NaN
  const server: BenchServer = {
    name,
    folder,
    pid,
    get url() {
      return url
    },
    get startMs() {
      return startMs
    },
    async kill() {
      const closed = once(child, 'exit')
      signalGroup('SIGKILL')
      await closed
      running.delete(server)
    },
    async stop() {
      const closed = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined
      signalGroup('SIGTERM')
      await Promise.race([closed, new Promise((wake) => setTimeout(wake, STOP_MS_MAX).unref())])
      server.clear()
    },
    clear() {
      signalGroup('SIGKILL')
      running.delete(server)
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
  running.add(server)
  child.once('error', (error) => lines.push(error.message))
  try {
    if (printsUrl) url = await firstLine(child)
    else await answering(url, child)
    startMs = performance.now() - started
    await quietMachine()
  } catch (error) {
    server.clear()
    throw new Error(`${name} ${messageOf(error)}:\n${lines.join('\n')}`)
  }
  return server
}

async function firstLine(child: Child): Promise<string> {
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('ended')))
  const [line] = await Promise.race([once(createInterface({ input: child.stdout }), 'line'), ended])
  return String(line)
}

async function answering(url: string, child: Child): Promise<void> {
  for (const deadline = Date.now() + START_MS_MAX; Date.now() < deadline; ) {
    const reply = await fetch(url, { redirect: 'manual' }).catch(() => undefined)
    if (reply !== undefined && reply.status < 500) return
    if (child.exitCode !== null || child.signalCode !== null) throw new Error('ended')
    await new Promise((wake) => setTimeout(wake, LOOK_MS))
  }
  throw new Error('does not answer')
}

/** Waits until the processors have little to do. */
async function quietMachine(): Promise<void> {
  for (const deadline = Date.now() + QUIET_MS_MAX; Date.now() < deadline; ) {
    const before = processorTimes()
    await new Promise((wake) => setTimeout(wake, QUIET_LOOK_MS))
    const after = processorTimes()
    if ((after.busy - before.busy) / (after.all - before.all) < QUIET_SHARE) return
  }
}

function processorTimes(): { all: number; busy: number } {
  const times = cpus().map((cpu) => cpu.times)
  const all = times.flatMap((time) => Object.values(time)).reduce((sum, ms) => sum + ms, 0)
  return { all, busy: all - times.reduce((sum, { idle }) => sum + idle, 0) }
}
