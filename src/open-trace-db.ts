import type { Log } from './log.ts'
import type { ClickHouseDb } from './stores/trace-db/clickhouse/clickhouse.ts'
import { type ElsewhereOptions, readAddress } from './stores/trace-db/elsewhere/address.ts'
import { openElsewhere } from './stores/trace-db/elsewhere/elsewhere.ts'
import { inTurn } from './stores/trace-db/elsewhere/migration-turns.ts'
import {
  type EmbeddedOptions,
  type EmbeddedTraceDb,
  embeddedFolder,
  hasEmbedded,
  openEmbedded,
} from './stores/trace-db/embedded/embedded.ts'
import { migrateTraceDb } from './stores/trace-db/migrate.ts'

/** Where the trace database is. */
export interface TraceDbPlace extends Pick<EmbeddedOptions, 'sqlAccess' | 'onLaunched'> {
  /** In it, where there is no server elsewhere. */
  dataFolder: string
  /** A server elsewhere. */
  clickhouse?: ElsewhereOptions | undefined
}

/** Opens and migrates the trace database. */
export async function openTraceDb(
  { dataFolder, clickhouse, sqlAccess, onLaunched }: TraceDbPlace,
  log: Pick<Log, 'error' | 'warn'>,
): Promise<EmbeddedTraceDb | ClickHouseDb> {
  await using opening = new AsyncDisposableStack()
  if (clickhouse === undefined) {
    const traces = opening.use(await openEmbedded(dataFolder, log, { sqlAccess, onLaunched }))
    await migrateTraceDb(traces)
    opening.move()
    return traces
  }
  const traces = opening.use(await openElsewhere(clickhouse, log))
  await inTurn(traces, log, () => migrateTraceDb(traces))
  opening.move()
  return traces
}

/** Warns of a trace database in the data folder that is not used, since the settings name one elsewhere. */
export function warnOfUnusedTraceDb({ dataFolder, clickhouse }: TraceDbPlace, log: Pick<Log, 'warn'>): void {
  if (clickhouse === undefined || !hasEmbedded(dataFolder)) return
  log.warn(
    { folder: embeddedFolder(dataFolder), url: placeOfTraceDb({ dataFolder, clickhouse }) },
    'the data folder has a trace database of its own, which is not used while HEDDLE_CLICKHOUSE_URL is set',
  )
}

/** Where a trace database is, for people; without a password. */
export function placeOfTraceDb({ dataFolder, clickhouse }: TraceDbPlace): string {
  if (clickhouse === undefined) return embeddedFolder(dataFolder)
  const { url, database } = readAddress(clickhouse.url)
  return `${url}/${database}`
}
