import type { Selectable } from 'kysely'
import type { Rights } from '../../access.ts'
import { newId } from '../../ids.ts'
import type { ControlDb, ControlTx } from '../../stores/control-db/port.ts'
import type { TrainingJobEventsTable, TrainingJobsTable } from '../../stores/control-db/tables.ts'
import { nowIso } from '../../time.ts'

export type JobRow = Selectable<TrainingJobsTable>

/** Without its settings, which may be as large as a list of learning rates. */
export type ListedJob = Omit<JobRow, 'config'>

const LISTED = [
  'id',
  'model_id',
  'entity',
  'project',
  'base_model',
  'kind',
  'state',
  'data_key',
  'dataset_ref',
  'counts',
  'source_checkpoint_id',
  'checkpoint_step',
  'attempts',
  'error_message',
  'created_by',
  'created_at',
  'started_at',
  'ended_at',
] as const satisfies (keyof ListedJob)[]
export type EventRow = Selectable<TrainingJobEventsTable>

export async function insertJob(control: ControlTx, row: JobRow): Promise<void> {
  await control.insertInto('training_jobs').values(row).execute()
}

export function findJob(control: ControlTx, id: string): Promise<JobRow | undefined> {
  return control.selectFrom('training_jobs').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Those of the keys that are training data of a job. */
export async function knownDataKeys(control: ControlDb, keys: readonly string[]): Promise<string[]> {
  const rows = await control
    .selectFrom('training_jobs')
    .select('data_key')
    .where('data_key', 'in', keys)
    .execute()
  return rows.map(({ data_key }) => data_key)
}

/** The ids of all jobs, as a part of another query. */
export function selectIds(control: ControlDb) {
  return control.selectFrom('training_jobs').select('id')
}

export interface StateCount {
  state: JobRow['state']
  count: number
}

/** Number of jobs in each state, without states that have none. */
export async function countStates(control: ControlDb): Promise<StateCount[]> {
  const rows = await control
    .selectFrom('training_jobs')
    .select((eb) => ['state', eb.fn.countAll().as('count')])
    .groupBy('state')
    .execute()
  return rows.map(({ state, count }) => ({ state, count: Number(count) }))
}

/** Records the start of an attempt, and with the first one that of the job; undefined for a job that has ended. */
export function startJob(tx: ControlTx, id: string, attempts: number): Promise<JobRow | undefined> {
  return tx
    .updateTable('training_jobs')
    .set((eb) => ({ state: 'running', started_at: eb.fn.coalesce('started_at', eb.val(nowIso())), attempts }))
    .where('id', '=', id)
    .where('state', 'in', ['queued', 'running'])
    .returningAll()
    .executeTakeFirst()
}

/** Jobs newest first, from before the one given. */
export function listJobs(
  control: ControlDb,
  page: {
    model_id: string | undefined
    state: JobRow['state'] | undefined
    beforeId: string | undefined
    limit: number
    /** Only jobs of these entities, or of the one project. */
    within: Pick<Rights, 'entities' | 'project'>
  },
): Promise<ListedJob[]> {
  const { entities, project } = page.within
  let query = control.selectFrom('training_jobs').select(LISTED)
  if (entities !== 'all') query = query.where('entity', 'in', entities)
  if (entities !== 'all' && project !== undefined) query = query.where('project', '=', project)
  if (page.model_id !== undefined) query = query.where('model_id', '=', page.model_id)
  if (page.state !== undefined) query = query.where('state', '=', page.state)
  if (page.beforeId !== undefined) query = query.where('id', '<', page.beforeId)
  return query.orderBy('id', 'desc').limit(page.limit).execute()
}

/** Gradient steps that jobs have taken. */
export async function countSteps(
  control: ControlDb,
  jobIds: readonly string[],
): Promise<Map<string, number>> {
  if (jobIds.length === 0) return new Map()
  const rows = await control
    .selectFrom('training_job_events')
    .select((eb) => ['job_id', eb.fn.countAll().as('count')])
    .where('job_id', 'in', jobIds)
    .where('type', '=', 'gradient_step')
    .groupBy('job_id')
    .execute()
  return new Map(rows.map((row) => [row.job_id, Number(row.count)]))
}

/** Every job of a model, ended or not. */
export function jobsOfModel(control: ControlDb, modelId: string): Promise<ListedJob[]> {
  return control.selectFrom('training_jobs').select(LISTED).where('model_id', '=', modelId).execute()
}

/** Jobs that wait: of each entity that has any. */
export async function countWaiting(control: ControlTx): Promise<Map<string, number>> {
  const rows = await control
    .selectFrom('training_jobs')
    .select((eb) => ['entity', eb.fn.countAll().as('count')])
    .where('state', '=', 'queued')
    .groupBy('entity')
    .execute()
  return new Map(rows.map(({ entity, count }) => [entity, Number(count)]))
}

/** The jobs that have not ended. */
export function openJobs(control: ControlDb): Promise<ListedJob[]> {
  const open = ['queued', 'running'] as const
  return control.selectFrom('training_jobs').select(LISTED).where('state', 'in', open).orderBy('id').execute()
}

export async function setSource(tx: ControlTx, jobId: string, checkpointId: string): Promise<void> {
  await tx
    .updateTable('training_jobs')
    .set({ source_checkpoint_id: checkpointId })
    .where('id', '=', jobId)
    .execute()
}

/** Records that a running job waits again; a reason becomes an event, of an outage only once in a row. */
export async function requeue(
  tx: ControlTx,
  jobId: string,
  { attempts, reason, isOutage = false }: { attempts: number; reason?: string; isOutage?: boolean },
): Promise<void> {
  const back = await tx
    .updateTable('training_jobs')
    .set({ state: 'queued', attempts })
    .where('id', '=', jobId)
    .where('state', '=', 'running')
    .returning('id')
    .executeTakeFirst()
  if (back === undefined || reason === undefined) return
  const event = { type: 'training_resumed', data: { reason } } as const
  const newest = isOutage ? await newestEvent(tx, jobId) : undefined
  if (newest?.type === event.type && newest.data === JSON.stringify(event.data)) return
  await addEvent(tx, jobId, event)
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

/** Appends an event; its position never changes. */
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

function newestEvent(tx: ControlTx, jobId: string): Promise<EventRow | undefined> {
  return tx
    .selectFrom('training_job_events')
    .selectAll()
    .where('job_id', '=', jobId)
    .orderBy('position', 'desc')
    .limit(1)
    .executeTakeFirst()
}

export function findEvent(control: ControlDb, id: string): Promise<EventRow | undefined> {
  return control.selectFrom('training_job_events').selectAll().where('id', '=', id).executeTakeFirst()
}
