import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { ensureServer, SERVER_PROGRAM } from '../../scripts/server-build.ts'
import { type RoundRobin, startRoundRobin } from '../cluster/round-robin.ts'
import { newReplicas } from './replicas.ts'
import { until } from './until.ts'

const ROOT = resolve(import.meta.dirname, '../..')

await ensureServer()

/** For servers that accept any key: as long as the secret part that W&B clients require. */
export const KEY = `local-${'0'.repeat(40)}`

/**
 * Of a trainer, which has one for each core otherwise: with two it takes a third more of the processor for models this
 * small, and waits for the core that other tests use. The server sets it for vLLM.
 */
const ENGINE_THREADS = { OMP_NUM_THREADS: '1' }

/** One request as the server logged it. */
export interface LoggedRequest {
  method: string
  path: string
  status: number
}

/**
 * A Heddle server in a separate process, which can be killed and started again on the same data; in some runs several
 * behind one address (`replicas.ts`), which are then killed and started together.
 */
export interface WireServer extends AsyncDisposable {
  readonly url: string
  readonly folder: string
  /** A key that the server accepts; under `HEDDLE_AUTH=keys` that of a user named `local`. */
  readonly key: string
  /** Under `HEDDLE_AUTH=keys`: the first operator makes another user one. */
  makeOperator(user: string): Promise<void>
  /**
   * Processes that the server started, or that those did, here or on the node of Ray, whose command line contains
   * `word`.
   */
  processes(word: string): number[]
  /** Every request that was answered since the last call of this function. */
  takeRequests(): Promise<LoggedRequest[]>
  /** The log lines so far, for messages of failing tests. */
  log(): string
  /** Resolves when the process has ended. */
  signal(name: NodeJS.Signals): Promise<{ code: number | null }>
  /** Resolves with the exit status when the process ends by itself. */
  ended(): Promise<number | null>
  start(): Promise<void>
}

export interface ServerOptions {
  diskMegabytes?: number
  launcher?: readonly string[]
  /** Under `HEDDLE_AUTH=keys`: teams that the user `local` manages. */
  teams?: readonly string[]
}

/**
 * Starts the server as `npm start` does, on a free port with a temporary data folder; with `diskMegabytes`, on a disk
 * of that size, which only the server's own processes see and `/proc/PID/root` shows. A `launcher` is a program that
 * becomes the server.
 */
export async function startServer(
  env: Record<string, string> = {},
  { diskMegabytes, launcher = [], teams = [] }: ServerOptions = {},
): Promise<WireServer> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-wire-'))
  await mkdir(join(folder, 'data'))
  const replicas = await newReplicas(env)
  const onSmallDisk = `mount -t tmpfs -o size=${diskMegabytes}m tmpfs "$HEDDLE_DATA" && exec "$@"`
  const wrapper = diskMegabytes === undefined ? launcher : ['unshare', '-Urm', 'sh', '-c', onSmallDisk, 'sh']
  const state = {
    children: [] as ChildProcess[],
    balancer: undefined as RoundRobin | undefined,
    url: '',
    port: '0',
    key: KEY,
    operator: '',
    lines: [] as string[],
    seen: 0,
  }

  /** Resolves with the address of one server. */
  async function startOne(data: string, port: string): Promise<string> {
    const command = [...wrapper, join(ROOT, 'node_modules/.bin/node'), SERVER_PROGRAM]
    const child = spawn(command[0] ?? '', command.slice(1), {
      cwd: ROOT,
      env: {
        ...process.env,
        HEDDLE_DATA: data,
        HEDDLE_PORT: port,
        HEDDLE_LOG: 'debug',
        HEDDLE_LOG_FORMAT: 'json',
        ...ENGINE_THREADS,
        ...replicas.env,
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    state.children.push(child)
    createInterface({ input: child.stderr }).on('line', (line) => state.lines.push(line))
    const output = createInterface({ input: child.stdout })
    const listening = new Promise<string>((fulfil, reject) => {
      output.on('line', (line) => {
        state.lines.push(line)
        const url = /"url":"([^"]+)"/.exec(line)?.[1]
        if (url !== undefined && line.includes('Heddle is listening')) fulfil(url)
      })
      child.once('close', () => reject(new Error(`The server ended:\n${state.lines.join('\n')}`)))
    })
    return listening
  }

  async function start(): Promise<void> {
    state.children = []
    if (replicas.count === 1) state.url = await startOne(join(folder, 'data'), state.port)
    else {
      const each = Array.from({ length: replicas.count }, (_, index) => join(folder, `data-${index}`))
      const urls = await Promise.all(each.map((data) => startOne(data, '0')))
      state.balancer = await startRoundRobin(() => urls, Number(state.port))
      state.url = state.balancer.url
    }
    // A restarted server must have the same address.
    state.port = new URL(state.url).port
    if (env['HEDDLE_AUTH'] === 'keys' && state.operator === '') {
      state.operator = await firstOperator(state)
      state.key = await firstKey(state, teams)
    }
  }

  await start()
  const roots = () => [...state.children.map(({ pid = 0 }) => pid), ...replicas.nodes]
  return {
    folder,
    async makeOperator(user) {
      const path = `/v1/accounts/users/${user}`
      await sendAs(state, 'PUT', path, { is_operator: true })
    },
    processes: (word) => descendants(roots(), word),
    get url() {
      return state.url
    },
    get key() {
      return state.key
    },
    async takeRequests() {
      // A request may be logged a little after its answer has arrived; this one is the last in the log.
      const marker = `/v1/preview/training-jobs/${randomUUID()}`
      await fetch(state.url + marker, { headers: { authorization: `Bearer ${state.key}` } })
      const end = await until(() => {
        const index = state.lines.findLastIndex((line) => line.includes(marker))
        return index === -1 ? undefined : index
      })
      const fresh = state.lines.slice(state.seen, end)
      state.seen = end + 1
      return fresh.flatMap(requestOf)
    },
    log: () => state.lines.join('\n'),
    start,
    async signal(name) {
      const closed = closedAll(state.children)
      for (const child of state.children) child.kill(name)
      const [code = null] = await closed
      await state.balancer?.[Symbol.asyncDispose]()
      return { code }
    },
    async ended() {
      const [code = null] = await closedAll(state.children)
      return code
    },
    async [Symbol.asyncDispose]() {
      const running = state.children.filter(
        ({ exitCode, signalCode }) => exitCode === null && signalCode === null,
      )
      const closed = closedAll(running)
      for (const child of running) child.kill('SIGTERM')
      await closed
      if (running.length > 0) await state.balancer?.[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** The exit status of each, once all have ended. */
function closedAll(children: readonly ChildProcess[]): Promise<(number | null)[]> {
  return Promise.all(
    children.map(async (child) => {
      const [code] = (await once(child, 'close')) as [number | null]
      return code
    }),
  )
}

/** The session of the first operator, who signs in by the printed link. */
async function firstOperator({ url, lines }: { url: string; lines: readonly string[] }): Promise<string> {
  return sessionOf(url, await until(() => lines.find((line) => line.includes('/sign-in#'))))
}

/** A key of a user named `local`, whose own entity is then that of servers that accept any key. */
async function firstKey(server: Session, teams: readonly string[]): Promise<string> {
  const made = await sendAs(server, 'POST', '/v1/accounts/users', { name: 'local' })
  for (const name of teams) await sendAs(server, 'POST', '/v1/accounts/teams', { name, admin: 'local' })
  const own = { url: server.url, operator: await sessionOf(server.url, String(made['sign_in_url'])) }
  return String((await sendAs(own, 'POST', '/v1/accounts/keys', { name: 'tests' }))['key'])
}

/** A server, and the cookie of somebody who has signed in there. */
interface Session {
  url: string
  operator: string
}

/** The cookie of a browser that follows a sign-in link. */
async function sessionOf(url: string, link: string): Promise<string> {
  const body = JSON.stringify({ token: link.split('#')[1]?.trim() })
  const reply = await fetch(`${url}/v1/accounts/session`, { method: 'POST', body })
  return reply.headers.get('set-cookie')?.split(';')[0] ?? ''
}

async function sendAs(
  { url, operator: cookie }: Session,
  method: 'POST' | 'PUT',
  path: string,
  body: object,
): Promise<Record<string, unknown>> {
  const headers = { cookie, 'x-heddle-page': '1' }
  const reply = await fetch(url + path, { method, headers, body: JSON.stringify(body) })
  if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`)
  return (await reply.json()) as Record<string, unknown>
}

function descendants(roots: readonly number[], word: string): number[] {
  const listing = execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' })
  const all = listing.split('\n').flatMap((line) => {
    const [, pid, parent, args = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? []
    return pid === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), args }]
  })
  const found = new Set(roots)
  for (const ancestor of found) {
    for (const { pid, parent } of all) if (parent === ancestor) found.add(pid)
  }
  return all.filter(({ pid, args }) => found.has(pid) && args.includes(word)).map(({ pid }) => pid)
}

function requestOf(line: string): LoggedRequest[] {
  if (!line.includes('"msg":"request"')) return []
  const { method, path, status } = JSON.parse(line) as LoggedRequest
  return [{ method, path, status }]
}

/**
 * Runs a client program and returns the JSON object of its last such line.
 * @throws Error with its output when it fails.
 */
export async function runClient(
  command: readonly string[],
  env: Record<string, string>,
): Promise<Record<string, unknown>> {
  const [program = '', ...args] = command
  const child = spawn(program, args, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let errors = ''
  child.stdout.on('data', (chunk) => {
    output += String(chunk)
  })
  child.stderr.on('data', (chunk) => {
    errors += String(chunk)
  })
  const [code] = (await once(child, 'close')) as [number | null]
  // Client libraries write lines too when they end.
  const last = output.split('\n').findLast((line) => line.startsWith('{')) ?? ''
  if (code !== 0) throw new Error(`${command.join(' ')} ended with status ${code}\n${output}\n${errors}`)
  return JSON.parse(last) as Record<string, unknown>
}
