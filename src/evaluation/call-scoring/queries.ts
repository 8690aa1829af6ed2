import type { Selectable } from 'kysely'
import type {
  ControlDb,
  ControlTx,
  MonitoredCallsTable,
  MonitorStatesTable,
  ScoringTasksTable,
} from '../../stores/control-db/tables.ts'
import { nowIso } from '../../time.ts'

export type ScoringTask = Selectable<ScoringTasksTable>
export type MonitoredCall = Selectable<MonitoredCallsTable>
export type MonitorState = Selectable<MonitorStatesTable>

/** SQLite takes 32,766 values in one statement; a task has thirteen. */
const ROWS_PER_INSERT = 1000

/** Calls that are scored together; a window that is full is scored at once, and the next one begins. */
const WINDOW_CALLS_MAX = 200

/**
 * Adds tasks; one that is there already stays as it is, but for a debounced one, which makes way for the next, and leaves it
 * its window.
 */
export async function insertTasks(control: ControlTx, tasks: readonly ScoringTask[]): Promise<void> {
  for (let at = 0; at < tasks.length; at += ROWS_PER_INSERT) {
    const rows = await inPlaceOfWaiting(control, tasks.slice(at, at + ROWS_PER_INSERT))
    await control
      .insertInto('scoring_tasks')
      .values(rows)
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute()
  }
}

async function inPlaceOfWaiting(control: ControlTx, tasks: readonly ScoringTask[]): Promise<ScoringTask[]> {
  const keys = tasks.flatMap(({ debounce_key }) => debounce_key ?? [])
  if (keys.length === 0) return [...tasks]
  const waiting = await control
    .selectFrom('scoring_tasks')
    .selectAll()
    .where('debounce_key', 'in', keys)
    .execute()
  const full = waiting.filter(({ window_calls }) => windowOf(window_calls).length >= WINDOW_CALLS_MAX)
  const fullIds = new Set(full.map(({ id }) => id))
  const replaced = waiting.filter(({ id }) => !fullIds.has(id))
  const byKey = new Map(replaced.map((task) => [task.debounce_key, task]))
  const ids = (rows: readonly ScoringTask[]): string[] => rows.map(({ id }) => id)
  await control.deleteFrom('scoring_tasks').where('id', 'in', ids(replaced)).execute()
  await control
    .updateTable('scoring_tasks')
    .set({ debounce_key: null, due_at: nowIso() })
    .where('id', 'in', ids(full))
    .execute()
  return tasks.map((task) => joinWindows(byKey.get(task.debounce_key ?? ''), task))
}

/** A task whose window holds also the calls of the one before, which it replaces. */
export function joinWindows(before: ScoringTask | undefined, task: ScoringTask): ScoringTask {
  if (before?.window_calls == null || task.window_calls === null) return task
  const own = windowOf(task.window_calls)
  const earlier = windowOf(before.window_calls).filter((id) => !own.includes(id))
  return { ...task, window_calls: JSON.stringify([...earlier, ...own]) }
}

/** The ids in a window, in the order their calls ended. */
export function windowOf(window_calls: string | null): string[] {
  // Written by tasks themselves.
  return window_calls === null ? [] : (JSON.parse(window_calls) as string[])
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

/** Counts an attempt of each task before it is made: one that ends the server is given up some day. */
export async function countAttempts(control: ControlDb, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await control
    .updateTable('scoring_tasks')
    .set((eb) => ({ attempts: eb('attempts', '+', 1) }))
    .where('id', 'in', ids)
    .execute()
}

/** Gives the attempts back of tasks that a stop of the server cut short. */
export async function forgetAttempt(control: ControlDb, id: string): Promise<void> {
  await control
    .updateTable('scoring_tasks')
    .set((eb) => ({ attempts: eb('attempts', '-', 1) }))
    .where('id', '=', id)
    .execute()
}

export async function postponeTask(
  control: ControlDb,
  { id, due_at }: Pick<ScoringTask, 'id' | 'due_at'>,
): Promise<void> {
  await control.updateTable('scoring_tasks').set({ due_at }).where('id', '=', id).execute()
}

/** Counts what became of a call that a monitor wanted scored. */
export async function countRun(
  control: ControlDb,
  { project_id, object_id, error }: { project_id: string; object_id: string; error: string | null },
): Promise<void> {
  const last_run_at = nowIso()
  const [scored, failed] = error === null ? [1, 0] : [0, 1]
  await control
    .insertInto('monitor_states')
    .values({ project_id, object_id, scored, failed, last_run_at, last_error: error })
    .onConflict((conflict) =>
      conflict.columns(['project_id', 'object_id']).doUpdateSet((eb) => ({
        scored: eb('monitor_states.scored', '+', scored),
        failed: eb('monitor_states.failed', '+', failed),
        last_run_at,
        ...(error !== null && { last_error: error }),
      })),
    )
    .execute()
}

export function statesIn(control: ControlDb, project_id: string): Promise<MonitorState[]> {
  return control.selectFrom('monitor_states').selectAll().where('project_id', '=', project_id).execute()
}

/** How many tasks of each trigger wait. */
export async function waitingIn(control: ControlDb, project_id: string): Promise<Map<string, number>> {
  const rows = await control
    .selectFrom('scoring_tasks')
    .select(['trigger_ref', (eb) => eb.fn.countAll<number>().as('count')])
    .where('project_id', '=', project_id)
    .groupBy('trigger_ref')
    .execute()
  return new Map(rows.map(({ trigger_ref, count }) => [trigger_ref ?? '', count]))
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
