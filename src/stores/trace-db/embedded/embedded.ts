import { join } from 'node:path'
import type { Log } from '../../../log.ts'
import { openClickHouse } from '../clickhouse/clickhouse.ts'
import { requestsTo } from '../clickhouse/server.ts'
import type { TraceDb } from '../port.ts'
import { returnFreedMemory } from './freed-memory.ts'
import { type ServerOptions, startServer } from './server-process.ts'

export interface EmbeddedOptions extends ServerOptions {
  /** A read that takes longer is ended. */
  readMsMax?: number
}

/**
 * Opens ClickHouse in a process of its own, with its files below `folder`. One process may open a folder at a time.
 * @throws Error when it cannot be started
 */
export async function openEmbedded(
  folder: string,
  log: Pick<Log, 'error' | 'warn'>,
  { readMsMax, ...options }: EmbeddedOptions = {},
): Promise<TraceDb> {
  const server = await startServer(join(folder, 'trace-db'), log, options)
  const traces = openClickHouse(server, log, { readMsMax })
  const freedMemory = returnFreedMemory({ requests: requestsTo(server), log })
  return {
    ...traces,
    async [Symbol.asyncDispose]() {
      await freedMemory.stop()
      await traces[Symbol.asyncDispose]()
    },
  }
}
