import { type ExpressionBuilder, type Selectable, type SelectQueryBuilder, sql } from 'kysely'
import type { ControlDb, ControlTx } from '../../stores/control-db/port.ts'
import type {
  ControlTables,
  RunAlertsTable,
  RunFilesTable,
  RunsTable,
} from '../../stores/control-db/tables.ts'
import { checkPage } from '../page-queries.ts'

export type RunRow = Selectable<RunsTable>
export type RunFileRow = Selectable<RunFilesTable>
export type RunAlertRow = Selectable<RunAlertsTable>

export interface RunName {
  entity: string
  project: string
  run: string
}

export function findRun(db: ControlTx, { entity, project, run }: RunName): Promise<RunRow | undefined> {
  return db
    .selectFrom('runs')
    .selectAll()
    .where('entity', '=', entity)
    .where('project', '=', project)
    .where('name', '=', run)
    .executeTakeFirst()
}

export function findRunById(db: ControlTx, id: string): Promise<RunRow | undefined> {
  return db.selectFrom('runs').selectAll().where('id', '=', id).executeTakeFirst()
}

export async function insertRun(tx: ControlTx, row: RunRow): Promise<void> {
  await tx.insertInto('runs').values(row).execute()
}

export async function updateRun(tx: ControlTx, id: string, values: Partial<RunRow>): Promise<void> {
  await tx.updateTable('runs').set(values).where('id', '=', id).execute()
}

export async function deleteRun(tx: ControlTx, id: string): Promise<void> {
  await tx.deleteFrom('runs').where('id', '=', id).execute()
  await tx.deleteFrom('run_files').where('run_id', '=', id).execute()
  await tx.deleteFrom('run_alerts').where('run_id', '=', id).execute()
  await tx.deleteFrom('artifact_uses').where('run_id', '=', id).execute()
}

export async function insertAlert(tx: ControlTx, row: RunAlertRow): Promise<void> {
  await tx.insertInto('run_alerts').values(row).execute()
}

/** The newest alerts of a run, newest first. Ids grow with time. */
export function listAlerts(db: ControlTx, runId: string, limit: number): Promise<RunAlertRow[]> {
  return db
    .selectFrom('run_alerts')
    .selectAll()
    .where('run_id', '=', runId)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}

/** The time of the newest alert of a run with a title. */
export async function lastAlertAt(db: ControlTx, runId: string, title: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('run_alerts')
    .select('created_at')
    .where('run_id', '=', runId)
    .where('title', '=', title)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.created_at
}

/** Deletes all but the newest alerts of a run. */
export async function trimAlerts(tx: ControlTx, runId: string, kept: number): Promise<void> {
  const newest = tx
    .selectFrom('run_alerts')
    .select('id')
    .where('run_id', '=', runId)
    .orderBy('id', 'desc')
    .limit(kept)
  await tx.deleteFrom('run_alerts').where('run_id', '=', runId).where('id', 'not in', newest).execute()
}

/** Runs of a project by when they were made, one page. Ids grow with time. @throws 413 */
export function listRuns(
  db: ControlTx,
  { entity, project }: { entity: string; project: string },
  page: { after: string | undefined; limit: number; order: 'asc' | 'desc' },
): Promise<RunRow[]> {
  let query = db.selectFrom('runs').where('entity', '=', entity).where('project', '=', project)
  if (page.after !== undefined) query = query.where('id', page.order === 'asc' ? '>' : '<', page.after)
  return wholeRuns(db, query.orderBy('id', page.order).limit(page.limit))
}

/** Runs by id, in no order; those that are gone are left out. @throws 413 */
export function runsById(db: ControlTx, ids: readonly string[]): Promise<RunRow[]> {
  return wholeRuns(db, db.selectFrom('runs').where('id', 'in', ids.length === 0 ? [''] : ids))
}

/** Runs that used a version of an artifact. @throws 413 */
export function listUsers(db: ControlTx, artifactId: string, limit: number): Promise<RunRow[]> {
  const users = db.selectFrom('artifact_uses').select('run_id').where('artifact_id', '=', artifactId)
  return wholeRuns(db, db.selectFrom('runs').where('id', 'in', users).orderBy('id').limit(limit))
}

async function wholeRuns(
  db: ControlTx,
  query: SelectQueryBuilder<ControlTables, 'runs', object>,
): Promise<RunRow[]> {
  const bytes = sql<number>`octet_length(config) + octet_length(summary)`.as('bytes')
  await checkPage(db, query.select(bytes).as('page'))
  return query.selectAll().execute()
}

/** Bytes of a config or a summary that lists of runs show. */
const SHOWN_BYTES_MAX = 16 * 1024

const LISTED_COLUMNS = [
  'id',
  'entity',
  'project',
  'name',
  'display_name',
  'state',
  'job_type',
  'group_name',
  'tags',
  'notes',
  'last_step',
  'exit_code',
  'created_at',
  'heartbeat_at',
  'ended_at',
  'created_by',
] as const

/** A run of a list; its config and its summary are null where they are long. */
export type ListedRun = Pick<RunRow, (typeof LISTED_COLUMNS)[number]> &
  Record<'config' | 'summary', string | null>

/** Runs of a project, newest first, one page. */
export function listRunsBriefly(
  db: ControlTx,
  { entity, project }: { entity: string; project: string },
  page: { after: string | undefined; limit: number },
): Promise<ListedRun[]> {
  const short = (eb: ExpressionBuilder<ControlTables, 'runs'>, column: 'config' | 'summary') =>
    eb
      .case()
      .when(eb(eb.fn<number>('octet_length', [column]), '<=', SHOWN_BYTES_MAX))
      .then(eb.ref(column))
      .else(null)
      .end()
      .as(column)
  let query = db
    .selectFrom('runs')
    .select(LISTED_COLUMNS)
    .select((eb) => [short(eb, 'config'), short(eb, 'summary')])
    .where('entity', '=', entity)
    .where('project', '=', project)
  if (page.after !== undefined) query = query.where('id', '<', page.after)
  return query.orderBy('id', 'desc').limit(page.limit).execute()
}

export async function countRuns(
  db: ControlTx,
  { entity, project }: { entity: string; project: string },
): Promise<number> {
  const row = await db
    .selectFrom('runs')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('entity', '=', entity)
    .where('project', '=', project)
    .executeTakeFirstOrThrow()
  return row.count
}

/** Writes a file's row and returns the previous owner of the bytes. */
export async function putFile(tx: ControlTx, row: RunFileRow): Promise<string | undefined> {
  const before = await findFile(tx, row.run_id, row.name)
  await tx
    .insertInto('run_files')
    .values(row)
    .onConflict((clash) => clash.columns(['run_id', 'name']).doUpdateSet(row))
    .execute()
  return before?.owner
}

/** Deletes a file's row and returns the owner of its bytes; none where there is no such file. */
export async function deleteFile(
  tx: ControlTx,
  { run_id, name }: Pick<RunFileRow, 'run_id' | 'name'>,
): Promise<string[]> {
  const rows = await tx
    .deleteFrom('run_files')
    .where('run_id', '=', run_id)
    .where('name', '=', name)
    .returning('owner')
    .execute()
  return rows.map((row) => row.owner)
}

export function findFile(db: ControlTx, runId: string, name: string): Promise<RunFileRow | undefined> {
  return db
    .selectFrom('run_files')
    .selectAll()
    .where('run_id', '=', runId)
    .where('name', '=', name)
    .executeTakeFirst()
}

/** Files of a run by name, one page. */
export function pageFiles(
  db: ControlTx,
  page: {
    run_id: string
    names: readonly string[]
    pattern: string | undefined
    after: string
    limit: number
  },
): Promise<RunFileRow[]> {
  let query = db
    .selectFrom('run_files')
    .selectAll()
    .where('run_id', '=', page.run_id)
    .where('name', '>', page.after)
  if (page.names.length > 0) query = query.where('name', 'in', page.names)
  const { pattern } = page
  // `like` ignores case in SQLite alone.
  if (pattern !== undefined)
    query = query.where((eb) => eb(eb.fn('lower', ['name']), 'like', eb.fn('lower', [eb.val(pattern)])))
  return query.orderBy('name').limit(page.limit).execute()
}

export async function countFiles(db: ControlTx, runId: string): Promise<number> {
  const row = await db
    .selectFrom('run_files')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('run_id', '=', runId)
    .executeTakeFirstOrThrow()
  return row.count
}

/** What follows a prefix in the names of the owners of all files, as a part of another query. */
export function selectOwnerIds(db: ControlDb, prefix: string) {
  return db
    .selectFrom('run_files')
    .select((eb) => eb.fn<string>('substr', ['owner', eb.lit(prefix.length + 1)]).as('id'))
}

/** Bytes of the files of all runs of an entity. */
export async function sumOfEntity(db: ControlTx, entity: string): Promise<number> {
  const row = await db
    .selectFrom('run_files')
    .innerJoin('runs', 'runs.id', 'run_files.run_id')
    .select((eb) => eb.fn.sum<number | null>('run_files.size').as('bytes'))
    .where('runs.entity', '=', entity)
    .executeTakeFirst()
  return row?.bytes ?? 0
}
