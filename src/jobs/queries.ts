import type { Insertable, Selectable } from 'kysely'
import { isRecord } from '../json/is-record.ts'
import { slicesOf } from '../slices.ts'
import type { JobsTable } from '../stores/control-db/job-table.ts'
import type { ControlDb, ControlTx } from '../stores/control-db/port.ts'
import { isoIn } from '../time.ts'

export type JobRow = Selectable<JobsTable>
export type NewJobRow = Insertable<JobsTable>

/** SQLite takes 32,766 values in one statement; a row has some twenty. */
const ROWS_PER_INSERT = 1000

/** Payloads that are read at once: each may be large. */
const PAYLOADS_AT_ONCE = 100

const FINISHED = ['completed', 'failed', 'cancelled'] as const

/** Adds jobs; one that waits or runs under the same id stays as it is. */
export async function insertJobs(tx: ControlTx, rows: readonly NewJobRow[]): Promise<void> {
  for (const some of slicesOf(rows, ROWS_PER_INSERT))
    await tx
      .insertInto('jobs')
      .values(some)
      .onConflict((conflict) =>
        conflict
          .columns(['kind', 'id'])
          .doUpdateSet((eb) => ({
            state: eb.ref('excluded.state'),
            payload: eb.ref('excluded.payload'),
            entity: eb.ref('excluded.entity'),
            key_id: eb.ref('excluded.key_id'),
            singleton_key: eb.ref('excluded.singleton_key'),
            group_key: eb.ref('excluded.group_key'),
            concurrency_key: eb.ref('excluded.concurrency_key'),
            run_at: eb.ref('excluded.run_at'),
            attempts: eb.ref('excluded.attempts'),
            attempts_max: eb.ref('excluded.attempts_max'),
            interruptions: eb.ref('excluded.interruptions'),
            cancel_reason: null,
            last_error: null,
            created_at: eb.ref('excluded.created_at'),
            finished_at: null,
          }))
          .where('jobs.state', 'in', FINISHED),
      )
      .execute()
}

/** Adds a job unless one waits under its singleton key, which then becomes due as soon as this one would. */
export async function insertOnce(tx: ControlTx, row: NewJobRow): Promise<void> {
  await tx
    .insertInto('jobs')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['kind', 'singleton_key'])
        .doUpdateSet((eb) => ({ run_at: eb.ref('excluded.run_at') }))
        .whereRef('jobs.run_at', '>', 'excluded.run_at'),
    )
    .execute()
}

const OPEN = ['waiting', 'active'] as const

/** How many jobs of a kind have not ended, of one entity or of those that one key started. */
export async function countOpenBy(
  control: ControlTx,
  { kind, by, name }: { kind: string; by: 'entity' | 'key_id'; name: string },
): Promise<number> {
  const counted = control
    .selectFrom('jobs')
    .select((eb) => eb.fn.countAll().as('count'))
    .where('kind', '=', kind)
    .where('state', 'in', OPEN)
    .where(by, '=', name)
  return Number((await counted.executeTakeFirst())?.count ?? 0)
}

/** The same by group, of those groups that have any. */
export async function countOpenOf(
  control: ControlDb,
  { kind, groups }: { kind: string; groups: readonly string[] },
): Promise<Map<string, number>> {
  if (groups.length === 0) return new Map()
  const rows = await control
    .selectFrom('jobs')
    .select((eb) => ['group_key', eb.fn.countAll().as('count')])
    .where('kind', '=', kind)
    .where('state', 'in', OPEN)
    .where('group_key', 'in', groups)
    .groupBy('group_key')
    .execute()
  return new Map(rows.map(({ group_key, count }) => [group_key ?? '', Number(count)]))
}

/** When the last job of each of some groups was added, of those that have any which has not ended. */
export async function lastAdded(
  tx: ControlTx,
  { kind, groups }: { kind: string; groups: readonly string[] },
): Promise<Map<string, string>> {
  const rows = await tx
    .selectFrom('jobs')
    .select((eb) => ['group_key', eb.fn.max('created_at').as('created_at')])
    .where('kind', '=', kind)
    .where('state', 'in', OPEN)
    .where('group_key', 'in', groups)
    .groupBy('group_key')
    .execute()
  return new Map(rows.map(({ group_key, created_at }) => [group_key ?? '', created_at]))
}

/** The jobs that wait under singleton keys. */
export function waitingUnder(
  tx: ControlTx,
  { kind, keys }: { kind: string; keys: readonly string[] },
): Promise<Pick<JobRow, 'id' | 'payload' | 'singleton_key'>[]> {
  return tx
    .selectFrom('jobs')
    .select(['id', 'payload', 'singleton_key'])
    .where('kind', '=', kind)
    .where('singleton_key', 'in', keys)
    .where('state', '=', 'waiting')
    .execute()
}

interface JobIds {
  kind: string
  ids: readonly string[]
}

/** Removes jobs that have not been started. */
export async function removeWaiting(tx: ControlTx, { kind, ids }: JobIds): Promise<void> {
  if (ids.length === 0) return
  await tx
    .deleteFrom('jobs')
    .where('kind', '=', kind)
    .where('id', 'in', ids)
    .where('state', '=', 'waiting')
    .execute()
}

/** Makes waiting jobs due, which gives up their singleton keys. */
export async function makeDue(tx: ControlTx, { kind, ids }: JobIds): Promise<void> {
  if (ids.length === 0) return
  await tx
    .updateTable('jobs')
    .set({ singleton_key: null, run_at: isoIn(0) })
    .where('kind', '=', kind)
    .where('id', 'in', ids)
    .where('state', '=', 'waiting')
    .execute()
}

/** Entities with due jobs of a kind, each found by two steps in an index; '' stands for jobs of none. */
export async function dueEntities(control: ControlDb, kind: string): Promise<string[]> {
  const rows = await control
    .withRecursive('found', (db) =>
      db
        .selectFrom('jobs')
        .select((eb) => eb.fn.min<string | null>('entity').as('entity'))
        .where('kind', '=', kind)
        .where('state', '=', 'waiting')
        .unionAll(
          db
            .selectFrom('found')
            .select((eb) =>
              eb
                .selectFrom('jobs')
                .select((inner) => inner.fn.min<string | null>('jobs.entity').as('entity'))
                .where('kind', '=', kind)
                .where('state', '=', 'waiting')
                .whereRef('jobs.entity', '>', 'found.entity')
                .as('entity'),
            )
            .where('found.entity', 'is not', null),
        ),
    )
    .selectFrom('found')
    .select('entity')
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('jobs')
          .select('id')
          .where('kind', '=', kind)
          .where('state', '=', 'waiting')
          .whereRef('jobs.entity', '=', 'found.entity')
          .where('run_at', '<=', isoIn(0)),
      ),
    )
    .execute()
  return rows.flatMap(({ entity }) => (entity === null ? [] : [entity]))
}

/**
 * Ids of waiting jobs of an entity that are due, longest first; with `ending`, only those whose next attempt gives them
 * up.
 */
export async function dueIds(
  control: ControlDb,
  { kind, entity, limit, ending }: { kind: string; entity: string; limit: number; ending: boolean },
): Promise<string[]> {
  let due = control
    .selectFrom('jobs')
    .select('id')
    .where('kind', '=', kind)
    .where('state', '=', 'waiting')
    .where('entity', '=', entity)
    .where('run_at', '<=', isoIn(0))
  if (ending) {
    due = due.where((eb) =>
      eb.or([eb('cancel_reason', 'is not', null), eb('attempts', '>=', eb.ref('attempts_max'))]),
    )
  }
  const rows = await due.orderBy('run_at').orderBy('id').limit(limit).execute()
  return rows.map(({ id }) => id)
}

const OPEN_FIELDS = [
  'id',
  'state',
  'entity',
  'group_key',
  'concurrency_key',
  'run_at',
  'attempts',
  'attempts_max',
  'cancel_reason',
] as const

/** What decides which of the waiting jobs is next; without payloads, which may be large. */
export type OpenJob = Pick<JobRow, (typeof OPEN_FIELDS)[number]>

/** Every job of a kind that waits or runs, at one moment, in the order in which they were added. */
export function openJobs(control: ControlDb, kind: string): Promise<OpenJob[]> {
  return control
    .selectFrom('jobs')
    .select(OPEN_FIELDS)
    .where('kind', '=', kind)
    .where('state', 'in', OPEN)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
}

/** When the newest job of each group and entity of a kind started. */
export async function lastStarted(control: ControlDb, kind: string) {
  const rows = await control
    .selectFrom('jobs')
    .select((eb) => ['entity', 'group_key', eb.fn.max('started_at').as('started_at')])
    .where('kind', '=', kind)
    .where('group_key', 'is not', null)
    .groupBy(['entity', 'group_key'])
    .execute()
  return {
    groups: latest(rows, ({ group_key }) => group_key ?? ''),
    entities: latest(rows, ({ entity }) => entity),
  }
}

function latest<Row extends { started_at: string | null }>(
  rows: readonly Row[],
  nameOf: (row: Row) => string,
): Map<string, string> {
  const times = new Map<string, string>()
  for (const row of rows) {
    const started = row.started_at ?? ''
    if (started > (times.get(nameOf(row)) ?? '')) times.set(nameOf(row), started)
  }
  return times
}

/** What the handlers of jobs last reported, as JSON, of those that run and have reported. */
export async function progressOf(
  control: ControlDb,
  { kind, ids }: { kind: string; ids: readonly string[] },
): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map()
  const rows = await control
    .selectFrom('jobs')
    .select(['id', 'progress'])
    .where('kind', '=', kind)
    .where('id', 'in', ids)
    .where('progress', 'is not', null)
    .execute()
  return new Map(rows.map(({ id, progress }) => [id, progress ?? '']))
}

/** The payloads of jobs, as JSON. */
export async function payloadsOf(
  control: ControlDb,
  { kind, ids }: { kind: string; ids: readonly string[] },
): Promise<Map<string, string>> {
  const payloads = new Map<string, string>()
  for (const some of slicesOf(ids, PAYLOADS_AT_ONCE)) {
    const rows = await control
      .selectFrom('jobs')
      .select(['id', 'payload'])
      .where('kind', '=', kind)
      .where('id', 'in', some)
      .execute()
    for (const { id, payload } of rows) payloads.set(id, payload)
  }
  return payloads
}

/** When the first job that is not due yet will be. */
export async function nextDue(control: ControlDb, kind: string): Promise<string | undefined> {
  const next = control
    .selectFrom('jobs')
    .select('run_at')
    .where('kind', '=', kind)
    .where('state', '=', 'waiting')
    .where('run_at', '>', isoIn(0))
    .orderBy('run_at')
    .limit(1)
  return (await next.executeTakeFirst())?.run_at
}

/** Marks a job to be cancelled unless it has ended; resolves with its state. The first reason counts. */
export async function requestCancel(
  control: ControlDb,
  { kind, id, reason }: { kind: string; id: string; reason: string },
): Promise<'waiting' | 'active' | undefined> {
  const open = await control
    .updateTable('jobs')
    .set((eb) => ({ cancel_reason: eb.fn.coalesce('cancel_reason', eb.val(reason)) }))
    .where('kind', '=', kind)
    .where('id', '=', id)
    .where('state', 'in', OPEN)
    .returning('state')
    .executeTakeFirst()
  return open?.state === 'waiting' || open?.state === 'active' ? open.state : undefined
}

/** Removes jobs of a kind that ended before a time, and all but the newest `keep`. */
export async function removeFinished(
  control: ControlDb,
  { kind, before, keep }: { kind: string; before: string; keep: number },
): Promise<void> {
  const oldestKept = await control
    .selectFrom('jobs')
    .select('finished_at')
    .where('kind', '=', kind)
    .where('finished_at', 'is not', null)
    .orderBy('finished_at', 'desc')
    .limit(1)
    .offset(keep - 1)
    .executeTakeFirst()
  const cut = oldestKept?.finished_at ?? ''
  await control
    .deleteFrom('jobs')
    .where('kind', '=', kind)
    .where('finished_at', '<', cut > before ? cut : before)
    .execute()
}

/** Removes jobs of a kind, running ones too, whose payload has one of the ids as its `project_id`. */
export async function removeOfProjects(
  control: ControlDb,
  { kind, projectIds }: { kind: string; projectIds: ReadonlySet<string> },
): Promise<void> {
  for (let after = ''; ; ) {
    const rows = await control
      .selectFrom('jobs')
      .select(['id', 'payload'])
      .where('kind', '=', kind)
      .where('id', '>', after)
      .orderBy('id')
      .limit(PAYLOADS_AT_ONCE)
      .execute()
    const ids = rows.filter(({ payload }) => projectIds.has(projectOf(payload))).map(({ id }) => id)
    if (ids.length > 0)
      await control.deleteFrom('jobs').where('kind', '=', kind).where('id', 'in', ids).execute()
    if (rows.length < PAYLOADS_AT_ONCE) return
    after = rows.at(-1)?.id ?? ''
  }
}

function projectOf(payload: string): string {
  const value: unknown = JSON.parse(payload)
  const id = isRecord(value) ? value['project_id'] : undefined
  return typeof id === 'string' ? id : ''
}
