import type { Selectable } from 'kysely'
import type { Place } from '../../access.ts'
import { slicesOf } from '../../slices.ts'
import type { ControlDb, ControlTx } from '../../stores/control-db/port.ts'
import type { ErasuresTable } from '../../stores/control-db/retention-tables.ts'

export type ErasureRow = Selectable<ErasuresTable>

/** SQLite takes 32,766 values in one statement. */
const ROWS_PER_INSERT = 1_000

export async function insertErasure(
  tx: ControlTx,
  row: ErasureRow,
  projectIds: readonly string[],
): Promise<void> {
  await tx.insertInto('erasures').values(row).execute()
  await addProjects(tx, row.id, projectIds)
}

/** Adds projects to those of an erasure. */
export async function addProjects(
  tx: ControlTx,
  erasureId: string,
  projectIds: readonly string[],
): Promise<void> {
  for (const some of slicesOf(projectIds, ROWS_PER_INSERT))
    await tx
      .insertInto('erased_projects')
      .values(some.map((project_id) => ({ erasure_id: erasureId, project_id })))
      .onConflict((clash) => clash.doNothing())
      .execute()
}

export function findErasure(control: ControlDb, id: string): Promise<ErasureRow | undefined> {
  return control.selectFrom('erasures').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Erasures that are going on. */
export function openErasures(control: ControlDb): Promise<ErasureRow[]> {
  return control.selectFrom('erasures').selectAll().where('gone_at', 'is', null).orderBy('id').execute()
}

export async function projectsOf(control: ControlTx, erasureId: string): Promise<string[]> {
  const rows = await control
    .selectFrom('erased_projects')
    .select('project_id')
    .where('erasure_id', '=', erasureId)
    .orderBy('project_id')
    .execute()
  return rows.map(({ project_id }) => project_id)
}

/** Receipts: of what a user asked for, or of anyone's; about anything, or about these whole entities and projects. */
export interface ErasureFilter {
  requestedBy?: string
  places?: readonly Place[]
}

/** Newest first. */
export function listErasures(
  control: ControlDb,
  { requestedBy, places }: ErasureFilter,
  page: { id?: string | undefined; beforeId?: string | undefined; limit: number },
): Promise<ErasureRow[]> {
  let query = control.selectFrom('erasures').selectAll()
  if (requestedBy !== undefined) query = query.where('requested_by', '=', requestedBy)
  if (places !== undefined)
    query = query.where(({ eb, or, and }) =>
      or(
        places.map(({ entity, project }) =>
          project === undefined
            ? eb('entity', '=', entity)
            : and([eb('kind', '=', 'project'), eb('subject', '=', `${entity}/${project}`)]),
        ),
      ),
    )
  if (page.id !== undefined) query = query.where('id', '=', page.id)
  if (page.beforeId !== undefined) query = query.where('id', '<', page.beforeId)
  return query.orderBy('id', 'desc').limit(page.limit).execute()
}

export async function updateErasure(tx: ControlTx, id: string, changes: Partial<ErasureRow>): Promise<void> {
  await tx.updateTable('erasures').set(changes).where('id', '=', id).execute()
}

/** Forgets which projects an erasure was about: their names may have that of a user. */
export async function deleteProjectsOf(tx: ControlTx, erasureId: string): Promise<void> {
  await tx.deleteFrom('erased_projects').where('erasure_id', '=', erasureId).execute()
}
