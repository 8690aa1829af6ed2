import { afterAll, beforeAll, expect, it } from 'vitest'
import { CLUSTER, startTwoShards, type TwoShards } from '../../../../tests/cluster/two-shards.ts'
import { SILENT } from '../../../test-log.ts'
import { migrateTraceDb } from '../migrate.ts'
import { firstOf, rowsOf } from '../port.ts'
import { traceDbContract } from '../trace-db.contract.ts'
import { openElsewhere } from './elsewhere.ts'

let cluster: TwoShards
beforeAll(async () => {
  cluster = await startTwoShards()
})
afterAll(() => cluster[Symbol.asyncDispose]())

const open = (database: string) => openElsewhere({ url: cluster.url(database), cluster: CLUSTER }, SILENT)

traceDbContract(() => open('contract'))

it('has the rows of a project on one shard, and those of many on both', async () => {
  await using db = await open('spread')
  await migrateTraceDb(db)
  const projects = Array.from({ length: 20 }, (_, at) => `team/p${at}`)
  for (const project_id of projects)
    await db.insert('files', [
      { project_id, digest: 'a', name: 'a', size_bytes: 1 },
      { project_id, digest: 'b', name: 'b', size_bytes: 1 },
    ])
  const sql = `SELECT _shard_num AS shard, project_id, count() AS count FROM files GROUP BY ALL ORDER BY ALL`
  const rows = await rowsOf(
    db.query<{ shard: number; project_id: string; count: number }>({ sql, params: {} }),
  )
  expect(rows.map(({ project_id }) => project_id).sort()).toEqual(projects.sort())
  expect(new Set(rows.map(({ shard, count }) => `${shard} ${count}`))).toEqual(new Set(['1 2', '2 2']))
})

it('stores rows of both shards once that are inserted again with their token', async () => {
  await using db = await open('once')
  await migrateTraceDb(db)
  // The tables are not replicated here: those that are remember their inserts by default.
  const sql = 'ALTER TABLE completion_usage MODIFY SETTING non_replicated_deduplication_window = 10'
  await db.command({ sql, params: {} })
  const rows = Array.from({ length: 20 }, (_, at) => ({ entity: `team${at}`, requests: 1 }))
  for (const token of ['a', 'a', 'b']) await db.insertOnce('completion_usage', rows, token)
  const stored = `SELECT sum(requests) AS requests, uniqExact(_shard_num) AS shards FROM completion_usage`
  expect(await firstOf(db.query({ sql: stored, params: {} }))).toEqual({ requests: 40, shards: 2 })
})
