import type { Selectable } from 'kysely'
import { slicesOf } from '../../slices.ts'
import type { ControlDb, ControlTx } from '../../stores/control-db/port.ts'
import type { MonitoredCallsTable, MonitorStatesTable } from '../../stores/control-db/tables.ts'
import { nowIso } from '../../time.ts'

export type MonitoredCall = Selectable<MonitoredCallsTable>
export type MonitorState = Selectable<MonitorStatesTable>

/** SQLite takes 32,766 values in one statement; a note has four. */
const ROWS_PER_INSERT = 1000

/** The outcome of a task of a version of a monitor. */
interface Run {
  project_id: string
  object_id: string
  digest: string
  error: string | null
}

/** Counts the outcome of a task of a monitor. */
export async function countRun(
  control: ControlDb,
  { project_id, object_id, digest, error }: Run,
): Promise<void> {
  const last_run_at = nowIso()
  const failure =
    error === null ? {} : { last_error: error, last_error_at: last_run_at, last_error_digest: digest }
  const [scored, failed] = error === null ? [1, 0] : [0, 1]
  await control
    .insertInto('monitor_states')
    .values({ project_id, object_id, scored, failed, last_run_at, ...failure })
    .onConflict((conflict) =>
      conflict.columns(['project_id', 'object_id']).doUpdateSet((eb) => ({
        scored: eb('monitor_states.scored', '+', scored),
        failed: eb('monitor_states.failed', '+', failed),
        last_run_at,
        ...failure,
      })),
    )
    .execute()
}

export function statesIn(control: ControlDb, project_id: string): Promise<MonitorState[]> {
  return control.selectFrom('monitor_states').selectAll().where('project_id', '=', project_id).execute()
}

/** Notes calls; a call that is noted already gets a new note. */
export async function noteCalls(tx: ControlTx, calls: readonly MonitoredCall[]): Promise<void> {
  for (const some of slicesOf(calls, ROWS_PER_INSERT))
    await tx
      .insertInto('monitored_calls')
      .values(some)
      .onConflict((conflict) =>
        conflict.columns(['project_id', 'call_id']).doUpdateSet((eb) => ({
          noted_at: eb.ref('excluded.noted_at'),
          pending_write: eb.ref('excluded.pending_write'),
        })),
      )
      .execute()
}

/** Records that writes have ended, successful or not. */
export async function endWrites(tx: ControlTx, ids: readonly string[]): Promise<void> {
  await tx
    .updateTable('monitored_calls')
    .set({ pending_write: null })
    .where('pending_write', 'in', ids)
    .execute()
}

/** The same for every write; resolves with the projects that have noted calls. */
export async function endAllWrites(tx: ControlTx): Promise<string[]> {
  await tx
    .updateTable('monitored_calls')
    .set({ pending_write: null })
    .where('pending_write', 'is not', null)
    .execute()
  const rows = await tx.selectFrom('monitored_calls').select('project_id').distinct().execute()
  return rows.map(({ project_id }) => project_id)
}

/** Noted calls of a project whose write has ended, or was begun before a time; oldest first. */
export function writtenCalls(
  control: ControlDb,
  { project_id, before, limit }: { project_id: string; before: string; limit: number },
): Promise<MonitoredCall[]> {
  return control
    .selectFrom('monitored_calls')
    .selectAll()
    .where('project_id', '=', project_id)
    .where((eb) => eb.or([eb('pending_write', 'is', null), eb('noted_at', '<', before)]))
    .orderBy('noted_at')
    .limit(limit)
    .execute()
}

/** Whether calls of a project are being written. */
export async function hasPending(control: ControlDb, project_id: string): Promise<boolean> {
  const pending = control
    .selectFrom('monitored_calls')
    .select('call_id')
    .where('project_id', '=', project_id)
    .where('pending_write', 'is not', null)
    .limit(1)
  return (await pending.executeTakeFirst()) !== undefined
}

/** In place of a write: the start of the call has not come. */
const UNSTARTED = 'unstarted'

/** Keeps the notes of calls whose start has not come for another pass, as if their write were in progress. */
export async function postponeCalls(control: ControlTx, calls: readonly MonitoredCall[]): Promise<void> {
  for (const { project_id, call_id, noted_at } of calls)
    await control
      .updateTable('monitored_calls')
      .set({ pending_write: UNSTARTED })
      .where('project_id', '=', project_id)
      .where('call_id', '=', call_id)
      .where('noted_at', '=', noted_at)
      .execute()
}

/** Removes the notes of examined calls, except those that were noted again meanwhile. */
export async function forgetCalls(control: ControlTx, calls: readonly MonitoredCall[]): Promise<void> {
  for (const { project_id, call_id, noted_at } of calls)
    await control
      .deleteFrom('monitored_calls')
      .where('project_id', '=', project_id)
      .where('call_id', '=', call_id)
      .where('noted_at', '=', noted_at)
      .execute()
}

/** Removes the notes and states of some projects. */
export async function deleteOfProjects(tx: ControlTx, projectIds: readonly string[]): Promise<void> {
  await tx.deleteFrom('monitored_calls').where('project_id', 'in', projectIds).execute()
  await tx.deleteFrom('monitor_states').where('project_id', 'in', projectIds).execute()
}
