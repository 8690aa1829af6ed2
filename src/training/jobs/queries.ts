import type { Selectable } from 'kysely'
import { newId } from '../../ids.ts'
import type {
  ControlDb,
  ControlTx,
  TrainingJobEventsTable,
  TrainingJobsTable,
} from '../../stores/control-db/tables.ts'
import { nowIso } from '../../time.ts'

export type JobRow = Selectable<TrainingJobsTable>
export type EventRow = Selectable<TrainingJobEventsTable>

export async function insertJob(control: ControlDb, row: JobRow): Promise<void> {
  await control.insertInto('training_jobs').values(row).execute()
}

export function findJob(control: ControlTx, id: string): Promise<JobRow | undefined> {
  return control.selectFrom('training_jobs').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Takes the oldest waiting job of a base model; nobody else gets the same one. */
export function takeNextJob(control: ControlDb, baseModel: string): Promise<JobRow | undefined> {
  return control
    .updateTable('training_jobs')
    .set((eb) => ({ state: 'running', started_at: nowIso(), attempts: eb('attempts', '+', 1) }))
    .where('state', '=', 'queued')
    .where('id', '=', (eb) =>
      eb
        .selectFrom('training_jobs')
        .select('id')
        .where('state', '=', 'queued')
        .where('base_model', '=', baseModel)
        .orderBy('id')
        .limit(1),
    )
    .returningAll()
    .executeTakeFirst()
}

export async function countWaiting(control: ControlDb): Promise<number> {
  const row = await control
    .selectFrom('training_jobs')
    .select((eb) => eb.fn.countAll().as('count'))
    .where('state', '=', 'queued')
    .executeTakeFirst()
  return Number(row?.count ?? 0)
}

export function openJobs(control: ControlDb, state: 'queued' | 'running'): Promise<JobRow[]> {
  return control.selectFrom('training_jobs').selectAll().where('state', '=', state).orderBy('id').execute()
}

export function openJobsOfModel(control: ControlDb, modelId: string): Promise<JobRow[]> {
  return control
    .selectFrom('training_jobs')
    .selectAll()
    .where('model_id', '=', modelId)
    .where('state', 'in', ['queued', 'running'])
    .execute()
}

export async function setSource(control: ControlDb, jobId: string, checkpointId: string): Promise<void> {
  await control
    .updateTable('training_jobs')
    .set({ source_checkpoint_id: checkpointId })
    .where('id', '=', jobId)
    .execute()
}

/** Puts a job that was running back into the queue. */
export async function requeue(control: ControlDb, jobId: string): Promise<void> {
  await control
    .updateTable('training_jobs')
    .set({ state: 'queued' })
    .where('id', '=', jobId)
    .where('state', '=', 'running')
    .execute()
}

export interface JobEnd {
  state: 'succeeded' | 'failed' | 'cancelled'
  error_message: string | null
  checkpoint_step: number | null
}

/** Ends a job with its one terminal event; false when it had ended before. */
export async function endJob(tx: ControlTx, jobId: string, end: JobEnd): Promise<boolean> {
  const ended = await tx
    .updateTable('training_jobs')
    .set({ ...end, ended_at: nowIso() })
    .where('id', '=', jobId)
    .where('state', 'in', ['queued', 'running'])
    .returning('id')
    .executeTakeFirst()
  if (ended === undefined) return false
  if (end.state === 'succeeded') await addEvent(tx, jobId, { type: 'training_ended', data: {} })
  else await addEvent(tx, jobId, { type: 'training_failed', data: { error_message: end.error_message } })
  return true
}

/** Appends an event; its position is its place in the order for ever. */
export async function addEvent(
  tx: ControlTx,
  jobId: string,
  event: { type: string; data: object },
): Promise<void> {
  await tx
    .insertInto('training_job_events')
    .values((eb) => ({
      id: newId(),
      job_id: jobId,
      position: eb
        .selectFrom('training_job_events')
        .select((inner) =>
          inner(inner.fn.coalesce(inner.fn.max('position'), inner.lit(0)), '+', inner.lit(1)).as('next'),
        )
        .where('job_id', '=', jobId),
      type: event.type,
      data: JSON.stringify(event.data),
      created_at: nowIso(),
    }))
    .execute()
}

export function listEvents(
  control: ControlDb,
  page: { job_id: string; afterPosition: number; limit: number },
): Promise<EventRow[]> {
  return control
    .selectFrom('training_job_events')
    .selectAll()
    .where('job_id', '=', page.job_id)
    .where('position', '>', page.afterPosition)
    .orderBy('position')
    .limit(page.limit)
    .execute()
}

export function findEvent(control: ControlDb, id: string): Promise<EventRow | undefined> {
  return control.selectFrom('training_job_events').selectAll().where('id', '=', id).executeTakeFirst()
}
