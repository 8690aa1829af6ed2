import type { Kysely } from 'kysely'

/** Rows that are moved at a time. */
const ROWS = 500

interface Task {
  id: string
  project_id: string
  call_id: string
  scorer_ref: string
  trigger_ref: string | null
  is_traced: number
  user: string
  key_id: string
  attempts: number
  due_at: string
  debounce_key: string | null
  target: string
  window_calls: string | null
}

interface Tables {
  scoring_tasks: Task
  jobs: Record<string, string | number | null>
}

/** Scoring tasks become jobs. */
export async function up(db: Kysely<Tables>): Promise<void> {
  const seen = new Set<string>()
  for (let after = ''; ; ) {
    const tasks = await db
      .selectFrom('scoring_tasks')
      .selectAll()
      .where('id', '>', after)
      .orderBy('id')
      .limit(ROWS)
      .execute()
    const last = tasks.at(-1)
    if (last === undefined) break
    const jobs = tasks.map((task) => jobOf(task, seen))
    await db.insertInto('jobs').values(jobs).execute()
    after = last.id
  }
  await db.schema.dropTable('scoring_tasks').execute()
}

/** A key stays with a task that has not been begun, and with one of several. */
function jobOf(task: Task, seen: Set<string>): Tables['jobs'] {
  const { id, attempts, due_at, debounce_key, is_traced, window_calls, ...same } = task
  const isFree = debounce_key !== null && attempts === 0 && !seen.has(debounce_key)
  if (isFree) seen.add(debounce_key)
  return {
    kind: 'score_call',
    id,
    state: 'waiting',
    payload: JSON.stringify({
      ...same,
      is_traced: is_traced === 1,
      window_calls: window_calls === null ? null : JSON.parse(window_calls),
    }),
    singleton_key: isFree ? debounce_key : null,
    group_key: task.trigger_ref,
    run_at: due_at,
    attempts,
    attempts_max: 12,
    created_at: due_at,
  }
}
