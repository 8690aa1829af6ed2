import type { z } from 'zod'
import { notFound } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import { toPage } from '../../page-wire.ts'
import type { ControlTx } from '../../stores/control-db/port.ts'
import type { ModelName, ModelRow } from './queries.ts'
import * as queries from './queries.ts'
import { createRegistering } from './registering.ts'
import {
  Lora,
  type ModelCreateReq,
  type ModelDeleteRes,
  type ModelRes,
  type ModelsListQuery,
} from './wire.ts'

/** Models in one listing. */
const LIST_MAX = 1_000

import type { ModelsDeps } from './deps.ts'

export type Models = ReturnType<typeof createModels>

/** The model registry. */
export function createModels(deps: ModelsDeps) {
  const { control, checkpoints, runs, removeJobs } = deps

  async function existing(id: string): Promise<ModelRow> {
    const row = await queries.findModel(control, id)
    if (row === undefined) throw notFound('model', id)
    return row
  }

  const register = createRegistering(deps)

  return {
    existing,

    /** Passes the model of the path to a handler. @throws 404 */
    withModel<Input extends { model_id: string }, Result>(
      handle: (model: ModelRow, input: Input, context: CallContext) => Promise<Result>,
    ) {
      return async (input: Input, context: CallContext): Promise<Result> =>
        handle(await existing(input.model_id), input, context)
    },

    create: async (req: ModelCreateReq, context: CallContext): Promise<z.input<typeof ModelRes>> =>
      toWire(await register(req, context)),

    read: async ({ model_id }: { model_id: string }) => toWire(await existing(model_id)),

    /** A page of models, newest first. */
    async list(req: ModelsListQuery, { caller }: CallContext) {
      const rows = await queries.listModels(control, {
        entity: req.entity ?? caller.defaultEntity,
        project: req.project,
        beforeId: req.after,
        limit: req.limit + 1,
      })
      return toPage(rows.map(toWire), req.limit)
    },

    /** Deletes a model with its checkpoints. Wire: clients retry DELETE, so a deleted model is no error. */
    async delete({ model_id }: { model_id: string }): Promise<z.input<typeof ModelDeleteRes>> {
      const row = await queries.findModel(control, model_id)
      if (row === undefined && !(await queries.wasModel(control, model_id))) throw notFound('model', model_id)
      // The row is deleted first: a job that ends at this moment then finds no model to add a step to.
      await queries.deleteModel(control, model_id)
      await removeJobs(model_id)
      return {
        model_id,
        deleted_checkpoints: await checkpoints.deleteAll(model_id),
        deleted_run:
          row !== undefined &&
          (await runs.delete({ entity: row.entity, project: row.project, run: row.run_id })),
      }
    },

    byId: (id: string): Promise<ModelRow | undefined> => queries.findModel(control, id),

    find: (name: ModelName): Promise<ModelRow | undefined> => queries.findModelByName(control, name),

    /** The same, within a transaction. */
    findIn: (tx: ControlTx, name: ModelName): Promise<ModelRow | undefined> =>
      queries.findModelByName(tx, name),

    /** Every model of an entity, newest first. */
    all: (entity: string): Promise<ModelRow[]> =>
      queries.listModels(control, { entity, project: undefined, beforeId: undefined, limit: LIST_MAX }),

    named: (wanted: { entity: string; name: string }): Promise<ModelRow[]> =>
      queries.findModelsNamed(control, wanted),
  }
}

function toWire(row: ModelRow): z.input<typeof ModelRes> {
  const { id, entity, project, name, base_model, run_id, best_metric, best_mode, created_at } = row
  const lora = Lora.parse(JSON.parse(row.lora))
  return { id, entity, project, name, base_model, run_id, lora, best_metric, best_mode, created_at }
}
