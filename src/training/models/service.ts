import type { z } from 'zod'
import { notFound } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import { toPage } from '../../wire/page-wire.ts'
import { Lora } from '../base-models/lora-wire.ts'
import type { ModelRow } from '../model-registry/model-row.ts'
import type { ModelsDeps } from './deps.ts'
import { createModelRegistration } from './registration.ts'
import type { ModelCreateReq, ModelDeleteRes, ModelRes, ModelsListQuery, ModelsListRes } from './wire.ts'

type ShownModel = z.input<typeof ModelRes>

/** Models as clients create, list and delete them. */
export interface Models {
  /**
   * @throws 409 when the name has other settings, 400 for too large an adapter or an unknown base model, 503 without an
   * engine.
   */
  create(req: ModelCreateReq, context: CallContext): Promise<ShownModel>
  read(req: { model_id: string }): Promise<ShownModel>
  /** A page of models, newest first. */
  list(req: ModelsListQuery, context: CallContext): Promise<z.input<typeof ModelsListRes>>
  /** Deletes a model with its checkpoints. Wire: clients retry DELETE, so a deleted model is no error. */
  delete(req: { model_id: string }): Promise<z.input<typeof ModelDeleteRes>>
}

export function createModels(deps: ModelsDeps): Models {
  const { registry, checkpoints, jobs, runs } = deps
  const register = createModelRegistration(deps)

  async function list(req: ModelsListQuery, { caller }: CallContext) {
    const rows = await registry.page({
      entity: req.entity ?? caller.defaultEntity,
      project: req.project,
      beforeId: req.after,
      limit: req.limit + 1,
    })
    return toPage(rows.map(toWire), req.limit)
  }

  async function remove({ model_id }: { model_id: string }) {
    const row = await registry.byId(model_id)
    if (row === undefined && !(await registry.existed(model_id))) throw notFound('model', model_id)
    // A request that fails here can be repeated: the row says which run it is.
    const deleted_run =
      row !== undefined && (await runs.delete({ entity: row.entity, project: row.project, run: row.run_id }))
    // Before its jobs: one that ends at this moment then finds no model to add a step to.
    await registry.delete(model_id)
    await jobs.removeOfModel(model_id)
    return { model_id, deleted_checkpoints: await checkpoints.deleteAll(model_id), deleted_run }
  }

  return {
    create: async (req, context) => toWire(await register(req, context)),
    read: async ({ model_id }) => toWire(await registry.existing(model_id)),
    list,
    delete: remove,
  }
}

function toWire(row: ModelRow): ShownModel {
  const { id, entity, project, name, base_model, run_id, best_metric, best_mode, created_at } = row
  const lora = Lora.parse(JSON.parse(row.lora))
  return { id, entity, project, name, base_model, run_id, lora, best_metric, best_mode, created_at }
}
