import type { Kysely } from 'kysely'

/** Rows that one statement inserts. */
const ROWS = 500

interface Tables {
  training_jobs: { id: string; kind: string; traced_at: string | null; created_at: string }
  jobs: Record<string, string | number | null>
}

/** Training jobs whose trajectories are not calls yet become jobs that write them. */
export async function up(db: Kysely<Tables>): Promise<void> {
  const open = await db
    .selectFrom('training_jobs')
    .select(['id', 'created_at'])
    .where('kind', '=', 'rl')
    .where('traced_at', 'is', null)
    .execute()
  const rows = open.map(({ id, created_at }) => ({
    kind: 'trajectory_calls',
    id,
    state: 'waiting',
    payload: '{}',
    run_at: created_at,
    attempts: 0,
    attempts_max: 12,
    created_at,
  }))
  for (let at = 0; at < rows.length; at += ROWS)
    await db
      .insertInto('jobs')
      .values(rows.slice(at, at + ROWS))
      .execute()
  await db.schema.alterTable('training_jobs').dropColumn('traced_at').execute()
}
