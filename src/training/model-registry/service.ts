import type { Place } from '../../access.ts'
import { notFound } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import type { ControlDb, ControlTx } from '../../stores/control-db/port.ts'
import type { BareModelName, ModelName, ModelPage, ModelRow } from './model-row.ts'
import * as queries from './queries.ts'

/** Models in one listing. */
const LIST_MAX = 1_000

/** The rows of models. What a model owns, such as checkpoints and jobs, stands on it; `models/` deletes all of it. */
export interface ModelRegistry {
  /** @throws 404 */
  existing(id: string): Promise<ModelRow>
  byId(id: string): Promise<ModelRow | undefined>
  find(name: ModelName): Promise<ModelRow | undefined>
  /** The same, within a transaction. */
  findIn(tx: ControlTx, name: ModelName): Promise<ModelRow | undefined>
  /** Models of this bare name in one project of an entity, or in any. */
  named(wanted: BareModelName): Promise<ModelRow[]>
  /** Models of one project of an entity, or of all, newest first; older ones than the newest thousand are left out. */
  all(entity: string, project: string | undefined): Promise<ModelRow[]>
  /** Models of an entity, newest first, from before the one given. */
  page(page: ModelPage): Promise<ModelRow[]>
  /** Passes the model of the path to a handler. @throws 404 */
  withModel<Input extends { model_id: string }, Result>(
    handle: (model: ModelRow, input: Input, context: CallContext) => Promise<Result>,
  ): (input: Input, context: CallContext) => Promise<Result>
  /** Adds a model; undefined where its name is taken. */
  insertIn(tx: ControlTx, row: ModelRow): Promise<ModelRow | undefined>
  /** Deletes the row alone. */
  delete(id: string): Promise<void>
  /** Whose a model is, or was before it was deleted; undefined for an id that no model has had. */
  placeOf(id: string): Promise<Place | undefined>
  /** Whether there was a model of this id. */
  existed(id: string): Promise<boolean>
}

export function createModelRegistry({ control }: { control: ControlDb }): ModelRegistry {
  async function existing(id: string): Promise<ModelRow> {
    const row = await queries.findModel(control, id)
    if (row === undefined) throw notFound('model', id)
    return row
  }

  return {
    existing,
    byId: (id) => queries.findModel(control, id),
    find: (name) => queries.findModelByName(control, name),
    findIn: (tx, name) => queries.findModelByName(tx, name),
    named: (wanted) => queries.findModelsNamed(control, wanted),
    all: (entity, project) =>
      queries.listModels(control, { entity, project, beforeId: undefined, limit: LIST_MAX }),
    page: (page) => queries.listModels(control, page),
    withModel: (handle) => async (input, context) => handle(await existing(input.model_id), input, context),
    insertIn: (tx, row) => queries.insertModel(tx, row),
    delete: (id) => queries.deleteModel(control, id),
    placeOf: async (id) =>
      (await queries.findModel(control, id)) ?? (await queries.placeOfDeleted(control, id)),
    existed: (id) => queries.wasModel(control, id),
  }
}
