import type { Kysely } from 'kysely'

/** Rows that one statement inserts. */
const ROWS = 500

interface Tables {
  evaluation_jobs: {
    call_id: string
    project_id: string
    evaluation_ref: string
    model_ref: string
    user: string
    key_id: string
    created_at: string
  }
  jobs: Record<string, string | number | null>
}

/** Evaluations that have not ended become jobs of the queue. */
export async function up(db: Kysely<Tables>): Promise<void> {
  const open = await db.selectFrom('evaluation_jobs').selectAll().orderBy('call_id').execute()
  const rows = open.map(({ call_id, created_at, ...payload }) => ({
    kind: 'evaluate_model',
    id: call_id,
    state: 'waiting',
    payload: JSON.stringify(payload),
    run_at: created_at,
    attempts: 0,
    attempts_max: 6,
    created_at,
  }))
  for (let at = 0; at < rows.length; at += ROWS)
    await db
      .insertInto('jobs')
      .values(rows.slice(at, at + ROWS))
      .execute()
  await db.schema.dropTable('evaluation_jobs').execute()
}
