import type { Selectable } from 'kysely'
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
