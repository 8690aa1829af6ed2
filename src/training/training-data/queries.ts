import { type Selectable, sql } from 'kysely'
import type { ControlDb } from '../../stores/control-db/port.ts'
import type { TrainingDataUploadsTable } from '../../stores/control-db/tables.ts'

export type UploadRow = Selectable<TrainingDataUploadsTable>

export async function insertUpload(control: ControlDb, row: UploadRow): Promise<void> {
  await control.insertInto('training_data_uploads').values(row).execute()
}

export function findUpload(control: ControlDb, id: string): Promise<UploadRow | undefined> {
  return control.selectFrom('training_data_uploads').selectAll().where('id', '=', id).executeTakeFirst()
}

export async function deleteUpload(control: ControlDb, id: string): Promise<void> {
  await control.deleteFrom('training_data_uploads').where('id', '=', id).execute()
}

/** The ids of all uploads, as a part of another query. */
export function selectIds(control: ControlDb) {
  return control.selectFrom('training_data_uploads').select('id')
}

/** Bytes of the uploads of an entity. */
export async function sumOfEntity(control: ControlDb, entity: string, ownerPrefix: string): Promise<number> {
  const row = await control
    .selectFrom('training_data_uploads as upload')
    .innerJoin('content_owners as owner', (join) =>
      join.on('owner.owner', '=', sql<string>`${ownerPrefix} || upload.id`),
    )
    .innerJoin('contents', 'contents.digest', 'owner.digest')
    .select((eb) => eb.fn.sum<number | null>('contents.size').as('bytes'))
    .where('upload.entity', '=', entity)
    .executeTakeFirst()
  return row?.bytes ?? 0
}
