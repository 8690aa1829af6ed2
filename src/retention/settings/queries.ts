import type { Selectable } from 'kysely'
import type { ControlDb, ControlTx } from '../../stores/control-db/port.ts'
import type { RetentionSettingsTable } from '../../stores/control-db/retention-tables.ts'

export type SettingRow = Selectable<RetentionSettingsTable>

export function settingsOf(db: ControlTx, projectId: string): Promise<SettingRow[]> {
  return db.selectFrom('retention_settings').selectAll().where('project_id', '=', projectId).execute()
}

/** Of all projects, those with the fewest days first. */
export function allSettings(control: ControlDb): Promise<SettingRow[]> {
  return control.selectFrom('retention_settings').selectAll().orderBy('days').orderBy('project_id').execute()
}

export async function putSetting(tx: ControlTx, row: SettingRow): Promise<void> {
  await tx
    .insertInto('retention_settings')
    .values(row)
    .onConflict((clash) => clash.columns(['project_id', 'kind']).doUpdateSet(row))
    .execute()
}

export async function deleteSetting(tx: ControlTx, projectId: string, kind: string): Promise<void> {
  await tx
    .deleteFrom('retention_settings')
    .where('project_id', '=', projectId)
    .where('kind', '=', kind)
    .execute()
}

export async function deleteSettings(tx: ControlTx, projectIds: readonly string[]): Promise<void> {
  await tx.deleteFrom('retention_settings').where('project_id', 'in', projectIds).execute()
}
