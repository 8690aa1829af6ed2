import type { Log } from '../../../log.ts'
import { type ClickHouseDb, openClickHouse, QUERY_SETTINGS } from '../clickhouse/clickhouse.ts'
import { type ElsewhereOptions, readAddress } from './address.ts'
import { CLUSTER_SETTINGS, createCluster } from './cluster.ts'
import { ONE_NODE_ELSEWHERE } from './one-node.ts'
import { prepareServer } from './start-checks.ts'
import { type WatchOptions, watchServer } from './watched-server.ts'

/** What users of a server elsewhere have in their profiles must not count. */
const OWN_SETTINGS = { ...QUERY_SETTINGS, async_insert: 0, session_timezone: 'UTC' } as const

/**
 * Opens a trace database on a ClickHouse server elsewhere.
 * @throws Error that says what is wrong with the server and what to do, without the password
 */
export async function openElsewhere(
  { url, ca, cluster, isCompressed = false }: ElsewhereOptions,
  log: Pick<Log, 'error' | 'warn'>,
  watch: WatchOptions = {},
): Promise<ClickHouseDb> {
  const endpoint = {
    ...readAddress(url),
    headers: {},
    settings: { ...OWN_SETTINGS, ...(cluster !== undefined && CLUSTER_SETTINGS) },
    ca,
    isCompressed,
  }
  await prepareServer({ endpoint, cluster })
  const topology =
    cluster === undefined ? ONE_NODE_ELSEWHERE : createCluster({ cluster, database: endpoint.database })
  return openClickHouse(watchServer(endpoint, log, watch), log, { topology })
}
