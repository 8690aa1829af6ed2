import type { Kysely } from 'kysely'

/** Rows that one statement inserts. */
const ROWS = 500

interface Tables {
  training_jobs: {
    id: string
    model_id: string
    base_model: string
    state: string
    attempts: number
    created_at: string
    started_at: string | null
  }
  jobs: Record<string, string | number | null>
}

/** Training jobs that have not ended become jobs of the queue; the lease of one that was running has expired. */
export async function up(db: Kysely<Tables>): Promise<void> {
  const open = await db
    .selectFrom('training_jobs')
    .select(['id', 'model_id', 'base_model', 'state', 'attempts', 'created_at', 'started_at'])
    .where('state', 'in', ['queued', 'running'])
    .orderBy('id')
    .execute()
  const rows = open.map(({ id, model_id, base_model, state, attempts, created_at, started_at }) => ({
    kind: 'training',
    id,
    state: state === 'running' ? 'active' : 'waiting',
    payload: '{}',
    group_key: model_id,
    concurrency_key: base_model,
    run_at: created_at,
    attempts,
    attempts_max: 3,
    lease_owner: state === 'running' ? 'before the queue' : null,
    lease_token: state === 'running' ? id : null,
    leased_until: state === 'running' ? '' : null,
    created_at,
    started_at,
  }))
  for (let at = 0; at < rows.length; at += ROWS)
    await db
      .insertInto('jobs')
      .values(rows.slice(at, at + ROWS))
      .execute()
}
