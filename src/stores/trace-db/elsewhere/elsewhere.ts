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
  options: ElsewhereOptions,
  log: Pick<Log, 'error' | 'warn'>,
  watch: WatchOptions = {},
): Promise<ClickHouseDb> {
  const { cluster } = options
  const endpoint = endpointOf(options)
  await prepareServer({ endpoint, cluster }, { missing: 'make' })
  const topology =
    cluster === undefined ? ONE_NODE_ELSEWHERE : createCluster({ cluster, database: endpoint.database })
  return openClickHouse(watchServer(endpoint, log, watch), log, { topology })
}

/**
 * Looks whether a server elsewhere can be used, and changes nothing.
 * @returns whether the database is there
 * @throws as {@link openElsewhere}
 */
export function lookElsewhere(options: ElsewhereOptions): Promise<boolean> {
  return prepareServer({ endpoint: endpointOf(options), cluster: options.cluster }, { missing: 'leave' })
}

function endpointOf({ url, ca, cluster, isCompressed = false }: ElsewhereOptions) {
  return {
    ...readAddress(url),
    headers: {},
    settings: { ...OWN_SETTINGS, ...(cluster !== undefined && CLUSTER_SETTINGS) },
    ca,
    isCompressed,
  }
}
