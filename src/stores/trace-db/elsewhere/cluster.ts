/**
 * Tables on the machines of a cluster. Each is a replicated table on every machine, in a database of its own
 * (`heddle_local`), and beside it a `Distributed` table of the same name in the database that is used (`heddle`), which
 * sends all rows of a project to the same shard. So a query of one project asks one shard, and its subqueries find all
 * rows there.
 */
import type { ClickHouseSettings } from '@clickhouse/client'
import type { Topology } from '../clickhouse/topology.ts'

/** A cluster, as the configuration of its machines names it, and the database that is used. */
export interface ClusterPlace {
  cluster: string
  database: string
}

/** What every request to a cluster runs with. */
export const CLUSTER_SETTINGS = {
  // An insert is acknowledged when a majority of the replicas of its shard has it.
  distributed_foreground_insert: 1,
  insert_quorum: 'auto',
  // All servers use the same replica of a shard, the first one that answers, so a read finds what was acknowledged
  // before it.
  load_balancing: 'in_order',
  prefer_localhost_replica: 0,
  optimize_skip_unused_shards: 1,
  distributed_product_mode: 'local',
} as const satisfies ClickHouseSettings

/** The database of the replicated tables. */
export function localDatabase({ database }: Pick<ClusterPlace, 'database'>): string {
  return `${database}_local`
}

/** `CREATE TABLE name (columns) ENGINE = engine(arguments) rest`, as migrations write it. */
const CREATE =
  /^CREATE TABLE (?<guard>IF NOT EXISTS )?(?<name>\w+)\s*\((?<columns>[\s\S]*)\)\s*ENGINE = (?<engine>\w+)(\((?<given>[^)]*)\))?(?<rest>[\s\S]*)$/

const ALTER = /^ALTER TABLE (?<name>\w+)\s+(?<actions>[\s\S]*)$/
const DELETE = /^DELETE FROM (?<name>\w+)\s(?<rest>[\s\S]*)$/
const DROP = /^DROP TABLE (?<guard>IF EXISTS )?(?<name>\w+)$/
const KILL = /^KILL QUERY (?<rest>WHERE [\s\S]*)$/

/** What changes the columns of a table, and so those of the `Distributed` one as well. */
const OF_COLUMNS = /^(ADD|DROP) COLUMN\b/

/** Tables of the system that know of the machine alone on which they are read. */
const OF_MACHINES = /\bsystem\.(parts|parts_columns|mutations|detached_parts|data_skipping_indices|tables)\b/g

/** Where replicas of a table find each other; the servers fill in the braces. */
const REPLICA = `'/clickhouse/tables/{uuid}/{shard}', '{replica}'`

export function createCluster(place: ClusterPlace): Topology {
  const { cluster, database } = place
  const local = localDatabase(place)
  const onCluster = `ON CLUSTER '${cluster}'`

  function created(groups: Groups): string[] {
    const { guard = '', name = '', columns = '', engine = '', given, rest = '' } = groups
    const table = `CREATE TABLE ${guard}${local}.${name} ${onCluster} (${columns})`
    if (!engine.endsWith('MergeTree')) return [`${table} ENGINE = ${engine}${rest}`]
    const options = given === undefined ? REPLICA : `${REPLICA}, ${given}`
    const key = `cityHash64(${shardedBy(columns, rest)})`
    return [
      `${table} ENGINE = Replicated${engine}(${options})${rest}`,
      `CREATE TABLE ${guard}${database}.${name} ${onCluster} AS ${local}.${name}
        ENGINE = Distributed('${cluster}', '${local}', '${name}', ${key})`,
    ]
  }

  function altered({ name = '', actions = '' }: Groups, sql: string): string[] {
    const kinds = new Set(partsOf(actions).map((action) => OF_COLUMNS.test(action)))
    if (kinds.size > 1) throw noRule(sql, 'changes columns and more at once')
    const of = (at: string): string => `ALTER TABLE ${at}.${name} ${onCluster} ${actions}`
    return kinds.has(true) ? [of(local), of(database)] : [of(local)]
  }

  return {
    isReplicated: true,

    statements(sql) {
      const statement = sql.trim()
      const groupsOf = (kind: RegExp): Groups | undefined => kind.exec(statement)?.groups
      const create = groupsOf(CREATE)
      if (create !== undefined) return created(create)
      const alter = groupsOf(ALTER)
      if (alter !== undefined) return altered(alter, sql)
      const deletion = groupsOf(DELETE)
      if (deletion !== undefined)
        return [`DELETE FROM ${local}.${deletion['name']} ${onCluster} ${deletion['rest']}`]
      const drop = groupsOf(DROP)
      if (drop !== undefined)
        return [`DROP TABLE ${drop['guard'] ?? ''}${local}.${drop['name']} ${onCluster} SYNC`]
      const kill = groupsOf(KILL)
      if (kill !== undefined) return [`KILL QUERY ${onCluster} ${kill['rest']}`]
      throw noRule(sql, 'is of no kind that is known')
    },

    query(sql) {
      // Estimates are made by the tables themselves.
      if (sql.startsWith('EXPLAIN ESTIMATE')) return sql.replaceAll(/\bFROM (\w+)/g, `FROM ${local}.$1`)
      if (sql.search(OF_MACHINES) < 0) return sql
      return sql
        .replaceAll(OF_MACHINES, `clusterAllReplicas('${cluster}', system.$1)`)
        .replaceAll('currentDatabase()', `'${local}'`)
    },
  }
}

type Groups = Partial<Record<string, string>>

/** The column by whose values rows are spread: the project, or else the first of the table's order. */
function shardedBy(columns: string, rest: string): string {
  if (/^\s*project_id\b/m.test(columns)) return 'project_id'
  const first = /ORDER BY \(?(\w+)/.exec(rest)?.[1]
  if (first === undefined) throw noRule(rest, 'has no order')
  return first
}

/** The parts of a list that commas separate, those within brackets and quotes aside. */
function partsOf(list: string): string[] {
  const parts: string[] = []
  let depth = 0
  let start = 0
  for (const { 0: token, index } of list.matchAll(/'(?:[^'\\]|\\.)*'|[()[\],]/g)) {
    if (token === '(' || token === '[') depth++
    else if (token === ')' || token === ']') depth--
    else if (token === ',' && depth === 0) {
      parts.push(list.slice(start, index).trim())
      start = index + 1
    }
  }
  return [...parts, list.slice(start).trim()]
}

function noRule(sql: string, why: string): Error {
  return new Error(`A statement ${why}, so it cannot be run on a cluster: ${sql}`)
}
