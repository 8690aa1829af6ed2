import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { migrateControlDb } from '../stores/control-db/migrate.ts'
import { openSqlite } from '../stores/control-db/sqlite.ts'

const MIGRATIONS = resolve(import.meta.dirname, '../../migrations/control')
const AT = '2026-01-01T00:00:00.000000Z'

/** The last migration before the table `jobs`. */
const BEFORE_JOBS = '0011'

/** A control database as releases without the job queue left it. */
async function openEarlier(): Promise<ReturnType<typeof openSqlite>> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-earlier-'))
  const migrations = join(folder, 'migrations')
  await cp(MIGRATIONS, migrations, { recursive: true })
  for (const name of await readdir(migrations))
    if (name.slice(0, BEFORE_JOBS.length) > BEFORE_JOBS) await rm(join(migrations, name))
  const db = openSqlite(folder)
  await migrateControlDb(db, migrations)
  return db
}

type Row = Record<string, string | number | null>

function insert(db: ReturnType<typeof openSqlite>, table: string, row: Row): Promise<unknown> {
  const columns = sql.join(Object.keys(row).map((column) => sql.ref(column)))
  const values = sql.join(Object.values(row))
  return sql`INSERT INTO ${sql.table(table)} (${columns}) VALUES (${values})`.execute(db)
}

function training(row: Row): Row {
  const same = { model_id: 'm', base_model: 'b', kind: 'rl', config: '{}', data_key: 'k', counts: '{}' }
  return { ...same, created_by: 'me', created_at: AT, attempts: 0, ...row }
}

function scoring(row: Row): Row {
  const same = { project_id: 'a/b', call_id: 'c', scorer_ref: 's', user: 'me', key_id: 'k', is_traced: 1 }
  return { ...same, attempts: 0, due_at: AT, target: 'call', ...row }
}

describe('work that an earlier release left', () => {
  it('becomes jobs', async () => {
    await using db = await openEarlier()
    await insert(
      db,
      'training_jobs',
      training({ id: 't1', state: 'running', attempts: 2, started_at: AT, traced_at: AT }),
    )
    await insert(db, 'training_jobs', training({ id: 't2', state: 'queued' }))
    await insert(db, 'training_jobs', training({ id: 't3', state: 'succeeded' }))
    await insert(db, 'training_jobs', training({ id: 't4', state: 'queued', kind: 'sft' }))
    await insert(db, 'scoring_tasks', scoring({ id: 's1', attempts: 3 }))
    const window = { trigger_ref: 'w', debounce_key: 'd', window_calls: '["c"]', is_traced: 0 }
    await insert(db, 'scoring_tasks', scoring({ id: 's2', ...window }))
    const evaluation = { project_id: 'a/b', evaluation_ref: 'e', model_ref: 'm', user: 'me', key_id: 'k' }
    await insert(db, 'evaluation_jobs', { call_id: 'e1', created_at: AT, ...evaluation })
    for (const call_id of ['c1', 'c2'])
      await insert(db, 'monitored_calls', { project_id: 'a/b', call_id, noted_at: AT })

    await migrateControlDb(db)

    const jobs = await db.selectFrom('jobs').selectAll().orderBy('kind').orderBy('id').execute()
    const shown = jobs.map(({ kind, id, state, attempts, attempts_max }) => {
      return `${kind} ${id} ${state} ${attempts}/${attempts_max}`
    })
    expect(shown).toEqual([
      'evaluate_model e1 waiting 0/6',
      'match_monitors a/b waiting 0/12',
      'score_call s1 waiting 3/12',
      'score_call s2 waiting 0/12',
      'training t1 active 2/3',
      'training t2 waiting 0/3',
      'training t4 waiting 0/3',
      'trajectory_calls t2 waiting 0/12',
      'trajectory_calls t3 waiting 0/12',
    ])
    const byId = new Map(jobs.map((job) => [`${job.kind} ${job.id}`, job]))
    const payloadOf = (name: string): unknown => JSON.parse(byId.get(name)?.payload ?? 'null')
    expect(payloadOf('evaluate_model e1')).toEqual(evaluation)
    expect(payloadOf('match_monitors a/b')).toEqual({ project_id: 'a/b' })
    expect(payloadOf('score_call s2')).toMatchObject({ call_id: 'c', is_traced: false, window_calls: ['c'] })
    expect(byId.get('score_call s2')).toMatchObject({ singleton_key: 'd', group_key: 'w', run_at: AT })
    expect(byId.get('training t1')).toMatchObject({ group_key: 'm', concurrency_key: 'b', leased_until: '' })
  })
})
