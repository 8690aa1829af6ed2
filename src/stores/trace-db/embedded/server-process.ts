import { mkdirSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { StoreFailed } from '../../../errors.ts'
import type { Log } from '../../../log.ts'
import { FOLDER_MODE } from '../../folder-mode.ts'
import { createLogFolder } from '../../processes/log-folder.ts'
import type { Server } from '../clickhouse/server.ts'
import { type Instance, isHeld, startInstance, stopInstance } from './instance.ts'
import type { SqlAccess } from './sql-access.ts'

/** Requests wait this long for a server that starts: clients try again after a 503. */
const WAIT_MS_MAX = 20_000

/** Delay before another start; doubles with every failed one. */
const BACKOFF_MS_MIN = 100
const BACKOFF_MS_MAX = 5_000

/** The port may be taken meanwhile. */
const FIRST_STARTS_MAX = 4

/** The process of a server that was killed holds the files until the disk has done its last writes. */
const HELD_MS_MAX = 30_000

export interface ServerOptions {
  /** Who else may read the tables; nobody where absent. */
  sqlAccess?: SqlAccess | undefined
  /** The first start waits this long for files that another process holds. */
  heldMsMax?: number
  /** Called when the first process has been started, half a second before it answers. */
  onLaunched?: (() => void) | undefined
}

/**
 * Keeps ClickHouse running in a process of its own, with its tables in `path`: one that ends is started again.
 * @throws Error when it cannot be started
 */
export async function startServer(
  path: string,
  log: Pick<Log, 'error'>,
  { sqlAccess, heldMsMax = HELD_MS_MAX, onLaunched }: ServerOptions = {},
): Promise<Server> {
  const folder = `${path}-server`
  mkdirSync(folder, { recursive: true, mode: FOLDER_MODE })
  const logs = createLogFolder(folder)
  const options = { path, folder, logs, sqlAccess }
  const stopping = new AbortController()
  let running: Instance | undefined = await firstStart()
  /** The instance that runs, or the one that is being started. */
  let current = Promise.resolve(running)
  const ended = keepRunning()

  async function firstStart(): Promise<Instance> {
    const giveUpAt = performance.now() + heldMsMax
    for (let attempt = 1; ; attempt++) {
      try {
        return await startInstance({ ...options, onLaunched })
      } catch (error) {
        const isLast = isHeld(error) ? performance.now() > giveUpAt : attempt >= FIRST_STARTS_MAX
        if (isLast) throw error
        await delay(backoffMs(attempt))
      }
    }
  }

  async function startAgain(): Promise<Instance> {
    for (let failed = 0; ; failed++) {
      try {
        return await startInstance(options)
      } catch (error) {
        if (stopping.signal.aborted) throw error
        log.error({ err: error }, 'the trace database could not be started: it is tried again')
        await delay(backoffMs(failed), undefined, { signal: stopping.signal })
      }
    }
  }

  async function keepRunning(): Promise<void> {
    for (;;) {
      running = await current
      const { child, connection } = running
      const reason = await child.exited
      if (stopping.signal.aborted) return
      const last_lines = child.lastLines()
      log.error({ reason, last_lines }, 'the trace database ended: it is started again')
      running = undefined
      current = startAgain()
      await connection[Symbol.asyncDispose]()
    }
  }

  return {
    async connection() {
      if (running !== undefined) return running.connection
      const waiting = new AbortController()
      const tooLate = delay(WAIT_MS_MAX, undefined, { signal: waiting.signal, ref: false }).then(() => {
        throw new StoreFailed('The trace database is starting', undefined)
      })
      tooLate.catch(() => undefined)
      try {
        return (await Promise.race([current, tooLate])).connection
      } finally {
        waiting.abort()
      }
    },

    // It may have been applied. A client repeats it, and is the only one to know whether that is right.
    repeatsInserts: 'unsent',

    async [Symbol.asyncDispose]() {
      stopping.abort()
      await current.then(stopInstance, () => undefined)
      await ended.catch(() => undefined)
    },
  }
}

function backoffMs(failed: number): number {
  return Math.min(BACKOFF_MS_MAX, BACKOFF_MS_MIN * 2 ** failed)
}
