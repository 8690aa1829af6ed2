import type { Selectable } from 'kysely'
import type {
  ControlDb,
  ControlTx,
  MonitoredCallsTable,
  ScoringTasksTable,
} from '../../stores/control-db/tables.ts'

export type ScoringTask = Selectable<ScoringTasksTable>
export type MonitoredCall = Selectable<MonitoredCallsTable>

/** SQLite takes 32,766 values in one statement; a task has eleven. */
const ROWS_PER_INSERT = 1000

/** Adds tasks; one that is there already stays as it is, but for a debounced one, which makes way for the next. */
export async function insertTasks(control: ControlTx, tasks: readonly ScoringTask[]): Promise<void> {
  for (let at = 0; at < tasks.length; at += ROWS_PER_INSERT) {
    const rows = tasks.slice(at, at + ROWS_PER_INSERT)
    const keys = rows.flatMap(({ debounce_key }) => debounce_key ?? [])
    if (keys.length > 0) await control.deleteFrom('scoring_tasks').where('debounce_key', 'in', keys).execute()
    await control
      .insertInto('scoring_tasks')
      .values(rows)
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute()
  }
}

export async function countTasks(control: ControlDb): Promise<number> {
  const counted = control.selectFrom('scoring_tasks').select((eb) => eb.fn.countAll<number>().as('count'))
  return (await counted.executeTakeFirst())?.count ?? 0
}

/** Tasks whose time has come, in the order of that time. */
export function dueTasks(
  control: ControlDb,
  { now, limit }: { now: string; limit: number },
): Promise<ScoringTask[]> {
  const due = control.selectFrom('scoring_tasks').selectAll().where('due_at', '<=', now)
  return due.orderBy('due_at').orderBy('id').limit(limit).execute()
}

/** When the next task is due. */
export async function nextDue(control: ControlDb): Promise<string | undefined> {
  const next = control.selectFrom('scoring_tasks').select('due_at').orderBy('due_at').limit(1)
  return (await next.executeTakeFirst())?.due_at
}

export async function postponeTask(
  control: ControlDb,
  { id, attempts, due_at }: Pick<ScoringTask, 'id' | 'attempts' | 'due_at'>,
): Promise<void> {
  await control.updateTable('scoring_tasks').set({ attempts, due_at }).where('id', '=', id).execute()
}

export async function deleteTask(control: ControlDb, id: string): Promise<void> {
  await control.deleteFrom('scoring_tasks').where('id', '=', id).execute()
}

/** Notes calls; one that was noted before is noted anew. */
export async function noteCalls(control: ControlDb, calls: readonly MonitoredCall[]): Promise<void> {
  await control.transaction().execute(async (tx) => {
    for (let at = 0; at < calls.length; at += ROWS_PER_INSERT)
      await tx
        .insertInto('monitored_calls')
        .values(calls.slice(at, at + ROWS_PER_INSERT))
        .onConflict((conflict) =>
          conflict
            .columns(['project_id', 'call_id'])
            .doUpdateSet((eb) => ({ noted_at: eb.ref('excluded.noted_at') })),
        )
        .execute()
  })
}

/** Calls of the project whose turn it is that were noted before a time, oldest first. */
export async function notedCalls(
  control: ControlDb,
  { before, limit }: { before: string; limit: number },
): Promise<MonitoredCall[]> {
  const noted = control.selectFrom('monitored_calls').where('noted_at', '<', before).orderBy('noted_at')
  const oldest = await noted.select('project_id').limit(1).executeTakeFirst()
  if (oldest === undefined) return []
  return noted.selectAll().where('project_id', '=', oldest.project_id).limit(limit).execute()
}

/** Forgets calls that have been looked at, unless they have been noted once more meanwhile. */
export async function forgetCalls(control: ControlTx, calls: readonly MonitoredCall[]): Promise<void> {
  for (const { project_id, call_id, noted_at } of calls)
    await control
      .deleteFrom('monitored_calls')
      .where('project_id', '=', project_id)
      .where('call_id', '=', call_id)
      .where('noted_at', '=', noted_at)
      .execute()
}
