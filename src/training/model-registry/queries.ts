import type { ControlDb, ControlTx } from '../../stores/control-db/port.ts'
import type { BareModelName, ModelName, ModelPage, ModelRow } from './model-row.ts'

/** Adds a model; undefined where its name is taken. */
export function insertModel(tx: ControlTx, row: ModelRow): Promise<ModelRow | undefined> {
  return tx
    .insertInto('models')
    .values(row)
    .onConflict((clash) => clash.doNothing())
    .returningAll()
    .executeTakeFirst()
}

export async function deleteModel(control: ControlDb, id: string): Promise<void> {
  await control.deleteFrom('models').where('id', '=', id).execute()
}

export function findModel(control: ControlDb, id: string): Promise<ModelRow | undefined> {
  return control.selectFrom('models').selectAll().where('id', '=', id).executeTakeFirst()
}

export function findModelByName(control: ControlTx, name: ModelName): Promise<ModelRow | undefined> {
  return control
    .selectFrom('models')
    .selectAll()
    .where('entity', '=', name.entity)
    .where('project', '=', name.project)
    .where('name', '=', name.name)
    .executeTakeFirst()
}

/** Projects of one entity in which models of the same name are looked for. */
const NAMED_MAX = 1_000

/** Models of this bare name in one project of an entity, or in any. */
export function findModelsNamed(control: ControlDb, wanted: BareModelName): Promise<ModelRow[]> {
  let query = control
    .selectFrom('models')
    .selectAll()
    .where('entity', '=', wanted.entity)
    .where('name', '=', wanted.name)
  if (wanted.project !== undefined) query = query.where('project', '=', wanted.project)
  return query.orderBy('id').limit(NAMED_MAX).execute()
}

/** Models of an entity, newest first, from before the one given. */
export function listModels(control: ControlDb, page: ModelPage): Promise<ModelRow[]> {
  let query = control.selectFrom('models').selectAll().where('entity', '=', page.entity)
  if (page.project !== undefined) query = query.where('project', '=', page.project)
  if (page.beforeId !== undefined) query = query.where('id', '<', page.beforeId)
  return query.orderBy('id', 'desc').limit(page.limit).execute()
}

/** Whether a model of this id existed: checkpoint rows outlive their model. */
export async function wasModel(control: ControlDb, id: string): Promise<boolean> {
  const row = await control
    .selectFrom('checkpoints')
    .select('id')
    .where('model_id', '=', id)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Where a deleted model was: the artifact versions of its checkpoints are still there. */
export function placeOfDeleted(
  control: ControlDb,
  id: string,
): Promise<{ entity: string; project: string } | undefined> {
  return control
    .selectFrom('checkpoints')
    .innerJoin('artifact_versions', 'artifact_versions.id', 'checkpoints.artifact_id')
    .innerJoin('artifact_collections', 'artifact_collections.id', 'artifact_versions.collection_id')
    .select(['artifact_collections.entity', 'artifact_collections.project'])
    .where('checkpoints.model_id', '=', id)
    .limit(1)
    .executeTakeFirst()
}
