import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { requestsIn } from '../clickhouse/topology.ts'
import { statementsOf } from '../migrate.ts'
import { createCluster } from './cluster.ts'

const MIGRATIONS = join(import.meta.dirname, '../../../../migrations/trace')

const cluster = createCluster({ cluster: 'fabric', database: 'heddle' })
const { statements, query } = cluster

/** Without line breaks and indentation. */
const flat = (sql: string): string => sql.replaceAll(/\s+/g, ' ')
const made = (sql: string): string[] => statements(sql).map(flat)

describe('statements on a cluster', () => {
  it('make a replicated table on every machine, and one beside it that spreads rows by project', () => {
    const sql = `CREATE TABLE IF NOT EXISTS tags (project_id String, tag String, changed_at DateTime64(6, 'UTC'), removed UInt8)
      ENGINE = ReplacingMergeTree(changed_at, removed) ORDER BY (project_id, tag) SETTINGS fsync_after_insert = 1`
    expect(made(sql)).toEqual([
      "CREATE TABLE IF NOT EXISTS heddle_local.tags ON CLUSTER 'fabric' (project_id String, tag String, " +
        "changed_at DateTime64(6, 'UTC'), removed UInt8) ENGINE = ReplicatedReplacingMergeTree(" +
        "'/clickhouse/tables/{uuid}/{shard}', '{replica}', changed_at, removed) ORDER BY (project_id, tag) " +
        'SETTINGS fsync_after_insert = 1',
      "CREATE TABLE IF NOT EXISTS heddle.tags ON CLUSTER 'fabric' AS heddle_local.tags " +
        "ENGINE = Distributed('fabric', 'heddle_local', 'tags', cityHash64(project_id))",
    ])
  })

  it('spread rows without a project by the first column of the order', () => {
    const sql = 'CREATE TABLE usage (entity String, n UInt64) ENGINE = SummingMergeTree ORDER BY (entity)'
    expect(made(sql)[1]).toContain('cityHash64(entity)')
  })

  it('change columns of both tables, and anything else of the replicated one', () => {
    expect(made(`ALTER TABLE files ADD COLUMN IF NOT EXISTS a String, DROP COLUMN b`)).toEqual([
      "ALTER TABLE heddle_local.files ON CLUSTER 'fabric' ADD COLUMN IF NOT EXISTS a String, DROP COLUMN b",
      "ALTER TABLE heddle.files ON CLUSTER 'fabric' ADD COLUMN IF NOT EXISTS a String, DROP COLUMN b",
    ])
    const actions = `DELETE WHERE a IN ('(', 'b, c') AND f(1, 2), MATERIALIZE COLUMN d`
    expect(made(`ALTER TABLE files ${actions}`)).toEqual([
      `ALTER TABLE heddle_local.files ON CLUSTER 'fabric' ${actions}`,
    ])
    expect(() => made('ALTER TABLE files ADD COLUMN a String, MATERIALIZE COLUMN a')).toThrow('at once')
  })

  it('delete rows, drop tables and kill queries on all machines', () => {
    expect(made('DELETE FROM feedback WHERE id = {id:String}')).toEqual([
      "DELETE FROM heddle_local.feedback ON CLUSTER 'fabric' WHERE id = {id:String}",
    ])
    expect(made('DROP TABLE IF EXISTS migrating')).toEqual([
      "DROP TABLE IF EXISTS heddle_local.migrating ON CLUSTER 'fabric' SYNC",
    ])
    expect(made('KILL QUERY WHERE query_id = {id:String} ASYNC')).toEqual([
      "KILL QUERY ON CLUSTER 'fabric' WHERE query_id = {id:String} ASYNC",
    ])
    expect(made(`CREATE TABLE migrating (held UInt8) ENGINE = Null COMMENT 'a'`)).toEqual([
      "CREATE TABLE heddle_local.migrating ON CLUSTER 'fabric' (held UInt8) ENGINE = Null COMMENT 'a'",
    ])
  })

  it('are refused where there is no rule', () => {
    expect(() => statements('TRUNCATE TABLE calls')).toThrow('TRUNCATE TABLE calls')
  })

  it('are refused where a change of rows has a query as its condition, which replicas would each answer', async () => {
    const made: string[] = []
    const run = async (sql: string) => void made.push(sql)
    const requests = requestsIn(cluster, { run, rows: async () => [] })
    const found = 'WHERE id IN (SELECT id FROM calls WHERE deleted = 1)'
    for (const sql of [
      `ALTER TABLE calls UPDATE a = 1 ${found}`,
      `ALTER TABLE calls DELETE ${found}`,
      `DELETE FROM calls ${found}`,
    ])
      await expect(requests.run(sql)).rejects.toThrow('has a query as its condition')
    expect(made).toEqual([])
    await requests.run("ALTER TABLE calls DELETE WHERE id IN ['a']")
    expect(made).toHaveLength(1)
  })

  it('are made of every migration', () => {
    for (const name of readdirSync(MIGRATIONS)) {
      const written = statementsOf(readFileSync(join(MIGRATIONS, name), 'utf8'))
      for (const statement of written.flatMap(made))
        expect(statement).toMatch(
          /^(CREATE TABLE IF NOT EXISTS|ALTER TABLE) heddle(_local)?\.\w+ ON CLUSTER 'fabric' /,
        )
    }
  })
})

describe('queries on a cluster', () => {
  it('ask all machines about what each knows of itself alone', () => {
    const sql = `SELECT count() FROM system.parts WHERE database = currentDatabase() AND table = 'calls'`
    expect(query(sql)).toBe(
      `SELECT count() FROM clusterAllReplicas('fabric', system.parts) WHERE database = 'heddle_local' AND table = 'calls'`,
    )
    expect(query('EXPLAIN ESTIMATE SELECT 1 FROM calls WHERE x')).toBe(
      'EXPLAIN ESTIMATE SELECT 1 FROM heddle_local.calls WHERE x',
    )
  })

  it('stay as they are otherwise', () => {
    const sql = 'SELECT id FROM calls FINAL WHERE database = currentDatabase()'
    expect(query(sql)).toBe(sql)
  })
})
