import type { Selectable } from 'kysely'
import type { ControlDb, ModelsTable } from '../../stores/control-db/tables.ts'

export type ModelRow = Selectable<ModelsTable>

export interface ModelName {
  entity: string
  project: string
  name: string
}

export function findModel(control: ControlDb, id: string): Promise<ModelRow | undefined> {
  return control.selectFrom('models').selectAll().where('id', '=', id).executeTakeFirst()
}

export function findModelByName(control: ControlDb, name: ModelName): Promise<ModelRow | undefined> {
  return control
    .selectFrom('models')
    .selectAll()
    .where('entity', '=', name.entity)
    .where('project', '=', name.project)
    .where('name', '=', name.name)
    .executeTakeFirst()
}

/** Every model of an entity, newest first. */
export function listModels(
  control: ControlDb,
  { entity, limit }: { entity: string; limit: number },
): Promise<ModelRow[]> {
  return control
    .selectFrom('models')
    .selectAll()
    .where('entity', '=', entity)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}

/** Whether a model of this id was here once: checkpoint rows outlive their model. */
export async function wasModel(control: ControlDb, id: string): Promise<boolean> {
  const row = await control
    .selectFrom('checkpoints')
    .select('id')
    .where('model_id', '=', id)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}
