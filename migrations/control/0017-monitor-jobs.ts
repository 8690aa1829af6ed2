import type { Kysely } from 'kysely'

interface Tables {
  monitored_calls: { project_id: string; noted_at: string }
  jobs: Record<string, string | number | null>
}

/** What was noted of calls is looked at by jobs, one of each project. A note names the write that is under way, if any. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema.alterTable('monitored_calls').addColumn('pending_write', 'text').execute()
  await db.schema
    .createIndex('monitored_calls_pending')
    .on('monitored_calls')
    .columns(['pending_write'])
    .execute()
  const projects = await db
    .selectFrom('monitored_calls')
    .select((eb) => ['project_id', eb.fn.min('noted_at').as('noted_at')])
    .groupBy('project_id')
    .execute()
  for (const { project_id, noted_at } of projects) {
    const job = {
      kind: 'match_monitors',
      id: project_id,
      state: 'waiting',
      payload: JSON.stringify({ project_id }),
    }
    const due = { run_at: noted_at, attempts: 0, attempts_max: 12, created_at: noted_at }
    await db
      .insertInto('jobs')
      .values({ ...job, singleton_key: project_id, group_key: project_id, ...due })
      .execute()
  }
}
