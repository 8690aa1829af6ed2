import { join } from 'node:path'
import type { Log } from '../../../log.ts'
import { openClickHouse } from '../clickhouse/clickhouse.ts'
import { requestsTo } from '../clickhouse/server.ts'
import type { TraceDb } from '../port.ts'
import { returnFreedMemory } from './freed-memory.ts'
import { startServer } from './server-process.ts'

/**
 * Opens ClickHouse in a process of its own, with its files below `folder`. One process may open a folder at a time.
 * @param limits a read that takes longer than `readMsMax` is ended
 * @throws Error when it cannot be started
 */
export async function openEmbedded(
  folder: string,
  log: Pick<Log, 'error' | 'warn'>,
  limits: { readMsMax?: number } = {},
): Promise<TraceDb> {
  const server = await startServer(join(folder, 'trace-db'), log)
  const traces = openClickHouse(server, log, limits)
  const freedMemory = returnFreedMemory({ requests: requestsTo(server), log })
  return {
    ...traces,
    async [Symbol.asyncDispose]() {
      await freedMemory.stop()
      await traces[Symbol.asyncDispose]()
    },
  }
}
