import { messageOf } from '../../../errors.ts'
import { type Connection, connect, type Endpoint } from '../clickhouse/connection.ts'
import { codeOf } from '../clickhouse/read-errors.ts'
import { localDatabase } from './cluster.ts'

/** The version of the embedded server, with which all tests run; older ones lack settings and indexes that are used. */
const VERSION_MIN = [26, 7] as const

const AUTHENTICATION_FAILED = 516
const ACCESS_DENIED = 497

/** What is done with tables. */
export const RIGHTS = ['SELECT', 'INSERT', 'ALTER', 'CREATE TABLE', 'DROP TABLE'] as const

/** What is read of the server itself. */
export const SYSTEM_TABLES = [
  'columns',
  'data_skipping_indices',
  'databases',
  'detached_parts',
  'events',
  'mutations',
  'parts',
  'parts_columns',
  'processes',
  'tables',
] as const

/** Of the tables; those of a cluster are replicated, and distributed besides. */
export const ENGINES = ['AggregatingMergeTree', 'ReplacingMergeTree', 'SummingMergeTree', 'Null'] as const

/** What a cluster needs besides. */
const CLUSTER_RIGHTS = ['CLUSTER', 'REMOTE'] as const

export interface StartOptions {
  endpoint: Endpoint & { database: string }
  /** The name of a cluster, where the tables are to be on several machines. */
  cluster: string | undefined
}

/**
 * Looks whether a server can be used, and may make the database where it is missing.
 * @returns whether the database is there
 * @throws Error that says what is wrong and what to do
 */
export async function prepareServer(
  { endpoint, cluster }: StartOptions,
  { missing }: { missing: 'make' | 'leave' },
): Promise<boolean> {
  const { database: _, ...anywhere } = endpoint
  await using connection = connect(anywhere)
  await requireVersion(connection, endpoint)
  if (cluster !== undefined) await requireCluster(connection, cluster)
  const names = [endpoint.database, ...(cluster === undefined ? [] : [localDatabase(endpoint)])]
  if (missing === 'make')
    for (const name of names) await ensureDatabase(connection, { name, cluster, endpoint })
  else if (!(await isThere(connection, endpoint.database))) return false
  await requireRights(connection, names, { endpoint, cluster })
  return true
}

async function requireVersion(connection: Connection, { url, username }: Endpoint): Promise<void> {
  const [found] = await connection
    .rows<{ version: string }>('SELECT version() AS version')
    .catch((error: unknown): never => {
      if (codeOf(error) === AUTHENTICATION_FAILED)
        throw new Error(`${url} does not accept the user ${username} with this password`)
      throw new Error(`${url} does not answer as ClickHouse does: ${reasonOf(error)}`)
    })
  const version = found?.version ?? ''
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [majorMin, minorMin] = VERSION_MIN
  if (major > majorMin || (major === majorMin && minor >= minorMin)) return
  throw new Error(`${url} is ClickHouse ${version}, and ${VERSION_MIN.join('.')} or newer is needed`)
}

async function requireCluster(connection: Connection, cluster: string): Promise<void> {
  const found = await connection.rows<{ name: string; doubles: number }>(
    `SELECT cluster AS name, max(replica_num > 1 AND NOT internal_replication) AS doubles
      FROM system.clusters GROUP BY cluster`,
  )
  const own = found.find(({ name }) => name === cluster)
  if (own === undefined)
    throw new Error(
      `There is no cluster ${cluster}: the server knows ${found.map(({ name }) => name).join(', ') || 'none'}`,
    )
  if (own.doubles === 1)
    throw new Error(
      `The cluster ${cluster} would have every row once more for each replica: its shards need internal_replication`,
    )
  const macros = await connection.rows<{ macro: string }>('SELECT macro FROM system.macros')
  const missing = ['shard', 'replica'].filter((name) => !macros.some(({ macro }) => macro === name))
  if (missing.length > 0)
    throw new Error(`The configuration of the server lacks the macros ${missing.join(' and ')}`)
}

async function ensureDatabase(
  connection: Connection,
  { name, cluster, endpoint }: { name: string; cluster: string | undefined; endpoint: Endpoint },
): Promise<void> {
  if (await isThere(connection, name)) return
  const sql = `CREATE DATABASE IF NOT EXISTS ${name}${cluster === undefined ? '' : ` ON CLUSTER '${cluster}'`}`
  await connection.run(sql).catch((error: unknown): never => {
    if (codeOf(error) !== ACCESS_DENIED) throw new Error(`${sql} failed: ${messageOf(error)}`)
    throw new Error(
      `There is no database ${name} that ${endpoint.username} may use, nor may it make one: ${sql}`,
    )
  })
}

async function isThere(connection: Connection, database: string): Promise<boolean> {
  const sql = 'SELECT name FROM system.databases WHERE name = {database:String}'
  return (await connection.rows(sql, { database })).length > 0
}

async function requireRights(
  connection: Connection,
  databases: readonly string[],
  { endpoint: { username }, cluster }: StartOptions,
): Promise<void> {
  const wanted = [
    ...databases.flatMap((name) => RIGHTS.map((right) => `${right} ON ${name}.*`)),
    ...SYSTEM_TABLES.map((table) => `SELECT ON system.${table}`),
    ...enginesOf(cluster).map((engine) => `TABLE ENGINE ON ${engine}`),
    ...(cluster === undefined ? [] : CLUSTER_RIGHTS.map((right) => `${right} ON *.*`)),
  ]
  const missing: string[] = []
  // https://clickhouse.com/docs/sql-reference/statements/check-grant
  for (const right of wanted)
    if ((await connection.reply(`CHECK GRANT ${right}`)).trim() !== '1') missing.push(right)
  if (missing.length > 0)
    throw new Error(
      `${username} lacks rights: ${missing.map((right) => `GRANT ${right} TO ${username}`).join('; ')}`,
    )
}

function enginesOf(cluster: string | undefined): readonly string[] {
  if (cluster === undefined) return ENGINES
  const own = ENGINES.map((engine) => (engine.endsWith('MergeTree') ? `Replicated${engine}` : engine))
  return [...own, 'Distributed']
}

/** Node hides several attempts at one address behind an error without a message. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join(', ')
  return messageOf(error)
}
