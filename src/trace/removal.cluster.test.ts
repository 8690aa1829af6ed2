import { afterAll, beforeAll, expect, it } from 'vitest'
import { CLUSTER, startTwoShards, type TwoShards } from '../../tests/cluster/two-shards.ts'
import { openElsewhere } from '../stores/trace-db/elsewhere/elsewhere.ts'
import { migrateTraceDb } from '../stores/trace-db/migrate.ts'
import { createMutations } from '../stores/trace-db/mutations.ts'
import { rowsOf, type TraceDb } from '../stores/trace-db/port.ts'
import { SILENT } from '../test-log.ts'
import { createCallFeedbackRemoval } from './calls/removal/feedback.ts'
import { createCallsRemoval } from './calls/removal/service.ts'
import { createObjectsRemoval } from './objects/removal/service.ts'
import { createTablesRemoval } from './tables/removal.ts'

let cluster: TwoShards
let traces: TraceDb
beforeAll(async () => {
  cluster = await startTwoShards()
  traces = await openElsewhere({ url: cluster.url('removal'), cluster: CLUSTER }, SILENT)
  await migrateTraceDb(traces)
})
afterAll(async () => {
  await traces[Symbol.asyncDispose]()
  await cluster[Symbol.asyncDispose]()
})

const { signal } = new AbortController()
const NOW = '2100-01-01T00:00:00.000000Z'
const day = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString()

/** On both shards. */
const PROJECTS = Array.from({ length: 8 }, (_, at) => `team/p${at}`)

function read<Row>(sql: string): Promise<Row[]> {
  return rowsOf(traces.query<Row>({ sql, params: {} }))
}

function openCalls() {
  const recent = {
    insert: (rows: readonly object[]) => traces.insert('calls', rows),
    forget: () => undefined,
  }
  return createCallsRemoval({ traces, mutations: createMutations(traces), recent })
}

it('empties deleted calls whose parts are in rows of their own, however many a statement may list', async () => {
  // Two changes of each shard: their keys are longer than one change may have.
  const id = (at: number): string => `deleted-${at}`.padEnd(100_000, 'x')
  const deleted = PROJECTS.map((project_id, at) => ({ project_id, id: id(at) }))
  const start = { has_start: 1, op_name: 'op', started_at: day(2), inputs: '"secret"' }
  const kept = PROJECTS.map((project_id) => ({ project_id, id: 'kept', ...start, inputs: '"kept"' }))
  await traces.insert('calls', [...kept, ...deleted.map((key) => ({ ...key, ...start }))])
  await traces.insert(
    'calls',
    deleted.map((key) => ({ ...key, deleted_at: day(1) })),
  )
  await openCalls().purge?.(NOW, signal)
  const left = await read<{ inputs: string; count: number }>(
    'SELECT assumeNotNull(inputs) AS inputs, count() AS count FROM calls WHERE has_start = 1 GROUP BY inputs',
  )
  expect(left).toEqual([{ inputs: '"kept"', count: PROJECTS.length }])
  const marks = 'SELECT id FROM calls FINAL WHERE deleted_at > {day:String} AND inputs IS NULL'
  const marked = await rowsOf(traces.query({ sql: marks, params: { day: '2000-01-01' } }))
  expect(marked).toHaveLength(deleted.length)
})

it('removes old calls with ends and names that came later', async () => {
  const old = { id: 'old', has_start: 1, op_name: 'op', started_at: day(30) }
  const limits = [{ projectIds: PROJECTS, before: day(10) }]
  for (const project_id of PROJECTS)
    await traces.insert('calls', [
      { project_id, ...old },
      { project_id, id: 'young', has_start: 1, op_name: 'op', started_at: day(1) },
    ])
  await traces.insert(
    'calls',
    PROJECTS.flatMap((project_id) => [
      { project_id, id: 'old', ended_at: day(1), output: '"late"' },
      { project_id, id: 'old', display_name: 'late' },
      { project_id, id: 'young', ended_at: day(1), output: '"early"' },
    ]),
  )
  await openCalls().expire?.calls?.(limits, signal)
  const sql = `SELECT id, count() AS count FROM calls FINAL WHERE id IN ('old', 'young') GROUP BY id`
  expect(await read(sql)).toEqual([{ id: 'young', count: PROJECTS.length }])
})

it('removes feedback with its old calls', async () => {
  const calls = { old: day(30), young: day(1) }
  for (const project_id of PROJECTS) {
    const rows = Object.entries(calls).map(([name, started_at]) => ({ id: `said-${name}`, started_at }))
    await traces.insert(
      'calls',
      rows.map((row) => ({ ...row, project_id, has_start: 1, op_name: 'op' })),
    )
    const said = (id: string, thing: string) => ({
      ...{ project_id, id, feedback_type: 'note', payload: '{}' },
      ...{ created_at: day(0), weave_ref: `weave:///${project_id}/${thing}` },
    })
    await traces.insert('feedback', [
      said('1', 'call/said-old'),
      said('2', 'call/said-young'),
      said('3', 'object/said-old'),
    ])
  }
  const removal = createCallFeedbackRemoval({ traces, mutations: createMutations(traces) })
  await removal.expire?.calls?.([{ projectIds: PROJECTS, before: day(10) }], signal)
  const sql = 'SELECT id, count() AS count FROM feedback FINAL GROUP BY id ORDER BY id'
  expect(await read(sql)).toEqual(['2', '3'].map((id) => ({ id, count: PROJECTS.length })))
})

it('empties deleted objects, and none that were published again', async () => {
  const mutations = createMutations(traces)
  const objects = { noteErased: () => undefined }
  const removal = createObjectsRemoval({ traces, mutations, objects }, (change) => change())
  const version = (object_id: string, published_at: string) => ({
    object_id,
    digest: 'd',
    kind: 'object',
    created_at: published_at,
    published_at,
  })
  for (const project_id of PROJECTS) {
    const val = { project_id, val: '"value"', wb_user_id: 'ada' }
    await traces.insert('objects', [
      { ...val, ...version('gone', day(3)) },
      { ...val, ...version('again', day(3)) },
    ])
    await traces.insert('objects', [
      { project_id, ...version('gone', day(3)), deleted_at: day(2) },
      { project_id, ...version('again', day(3)), deleted_at: day(2) },
    ])
    await traces.insert('objects', [{ ...val, ...version('again', day(1)) }])
  }
  await removal.purge?.(NOW, signal)
  const sql = `SELECT object_id, count() AS count, countIf(isNotNull(val)) AS values FROM objects FINAL GROUP BY object_id ORDER BY ALL`
  expect(await read(sql)).toEqual([
    { object_id: 'again', count: PROJECTS.length, values: PROJECTS.length },
    { object_id: 'gone', count: PROJECTS.length, values: 0 },
  ])
})

it('removes tables with the rows that no other table has', async () => {
  const [project_id = ''] = PROJECTS
  const { removeContents } = createTablesRemoval({ traces, mutations: createMutations(traces) })
  const sent = { project_id, created_at: day(1) }
  await traces.insert(
    'table_rows',
    ['a', 'both', 'b'].map((digest) => ({ ...sent, digest, val: digest })),
  )
  await traces.insert('tables', [
    { ...sent, digest: 'removed', row_digests: ['a', 'both'] },
    { ...sent, digest: 'kept', row_digests: ['both', 'b'] },
  ])
  await removeContents(project_id, ['removed'], NOW, signal)
  expect(await read('SELECT digest FROM tables')).toEqual([{ digest: 'kept' }])
  expect(await read('SELECT digest FROM table_rows ORDER BY digest')).toEqual([
    { digest: 'b' },
    { digest: 'both' },
  ])
})
