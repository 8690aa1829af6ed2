import { messageOf } from '../../../errors.ts'
import type { Log } from '../../../log.ts'
import type { Requests } from '../clickhouse/server.ts'

/** Long enough that pages which are freed and used again within a burst of work are not returned meanwhile. */
const RETURN_EVERY_MS = 10_000

/**
 * Returns memory that ClickHouse has freed to the system. Its allocator leaves that to a thread of its own, which does
 * not run inside another program: 20 calls of 30 MB leave 600 MiB behind, of which half is freed.
 */
export function returnFreedMemory({ requests, log }: { requests: Requests; log: Pick<Log, 'warn'> }): {
  /** Resolves when no query of it runs any more. */
  stop(): Promise<void>
} {
  let returning: Promise<void> | undefined

  async function purge(): Promise<void> {
    try {
      await requests.run('SYSTEM JEMALLOC PURGE')
    } catch (error) {
      log.warn({ reason: messageOf(error) }, 'freed memory was not returned to the system')
    }
  }

  const timer = setInterval(() => {
    returning ??= purge().finally(() => {
      returning = undefined
    })
  }, RETURN_EVERY_MS).unref()

  return {
    async stop() {
      clearInterval(timer)
      await returning
    },
  }
}
