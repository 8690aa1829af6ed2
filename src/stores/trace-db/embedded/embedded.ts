import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Log } from '../../../log.ts'
import { type ClickHouseDb, openClickHouse } from '../clickhouse/clickhouse.ts'
import { requestsTo } from '../clickhouse/server.ts'
import { returnFreedMemory } from './freed-memory.ts'
import { createFreezer, type Freezer, removeFrozen } from './freeze.ts'
import { type ServerOptions, startServer } from './server-process.ts'

export interface EmbeddedOptions extends ServerOptions {
  /** A read that takes longer is ended. */
  readMsMax?: number
}

/** A trace database whose files can be copied at one moment. */
export interface EmbeddedTraceDb extends ClickHouseDb, Freezer {}

/** What ClickHouse takes for a pattern of several paths. */
const IN_PATTERNS = /[*?{}\\]/

/** Where the files are, in a data folder. */
export function embeddedFolder(folder: string): string {
  return join(folder, 'trace-db')
}

/** Whether a data folder has such a database. */
export function hasEmbedded(folder: string): boolean {
  return existsSync(embeddedFolder(folder))
}

/**
 * Opens ClickHouse in a process of its own, with its files below `folder`. One process may open a folder at a time.
 * @throws Error when it cannot be started, as in a folder whose path ClickHouse takes for a pattern
 */
export async function openEmbedded(
  folder: string,
  log: Pick<Log, 'error' | 'warn'>,
  { readMsMax, ...options }: EmbeddedOptions = {},
): Promise<EmbeddedTraceDb> {
  const path = embeddedFolder(folder)
  const found = IN_PATTERNS.exec(path)?.[0]
  if (found !== undefined)
    throw new Error(
      `The path of the data folder has "${found}", which its database cannot have in a path: choose another folder than ${folder}`,
    )
  await removeFrozen(path)
  const server = await startServer(path, log, options)
  const traces = openClickHouse(server, log, { readMsMax })
  const freedMemory = returnFreedMemory({ requests: requestsTo(server), log })
  return {
    ...traces,
    ...createFreezer({ requests: requestsTo(server), path }),
    async [Symbol.asyncDispose]() {
      await freedMemory.stop()
      await traces[Symbol.asyncDispose]()
    },
  }
}
