import type { z } from 'zod'
import type { Projects } from '../../accounts/projects.ts'
import { conflict, notFound } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import { newId } from '../../ids.ts'
import type { ControlDb } from '../../stores/control-db/tables.ts'
import { nowIso } from '../../time.ts'
import type { BaseModels } from '../base-models/service.ts'
import type { Checkpoints } from '../checkpoints/service.ts'
import { findModel, findModelByName, listModels, type ModelName, type ModelRow, wasModel } from './queries.ts'
import type { ModelCreateReq, ModelDeleteRes, ModelRes } from './wire.ts'

/** Registering waits for a starting engine this long: clients wait 600 s, and do not retry a POST. */
const REGISTER_MS_MAX = 300_000

/** Models that one listing names. */
const LIST_MAX = 1_000

export type Models = ReturnType<typeof createModels>

export interface ModelsDeps {
  control: ControlDb
  projects: Projects
  baseModels: BaseModels
  checkpoints: Checkpoints
  /** Ends the open jobs of a model that is about to go. */
  cancelJobs: (modelId: string) => Promise<void>
}

/** The model registry. */
export function createModels({ control, projects, baseModels, checkpoints, cancelJobs }: ModelsDeps) {
  async function existing(id: string): Promise<ModelRow> {
    const row = await findModel(control, id)
    if (row === undefined) throw notFound('model', id)
    return row
  }

  async function insert(req: ModelCreateReq, name: ModelName, context: CallContext): Promise<ModelRow> {
    const signal = AbortSignal.any([context.signal, AbortSignal.timeout(REGISTER_MS_MAX)])
    const first = await baseModels.initialAdapter(req.base_model, signal)
    await projects.ensure({ entity: name.entity, name: name.project })
    const row: ModelRow = {
      id: newId(),
      ...name,
      base_model: req.base_model,
      // Wire: clients open their metrics run under the model's name; another id here would split it in two.
      run_id: name.name,
      last_step: 0,
      created_by: context.caller.user,
      created_at: nowIso(),
    }
    return control.transaction().execute(async (tx) => {
      const added = await tx
        .insertInto('models')
        .values(row)
        .onConflict((clash) => clash.doNothing())
        .returningAll()
        .executeTakeFirst()
      if (added === undefined) return (await findModelByName(tx, name)) ?? row
      await checkpoints.insertFirst(tx, added.id, first)
      return added
    })
  }

  return {
    existing,

    /** Runs a handler only for a model that exists. @throws 404 otherwise. */
    withExisting<Input extends { model_id: string }, Result>(handle: (input: Input) => Promise<Result>) {
      return async (input: Input): Promise<Result> => {
        await existing(input.model_id)
        return handle(input)
      }
    },

    /** Registers a model with its step 0. @throws 409 when the name is taken otherwise, 503 without an engine. */
    async create(req: ModelCreateReq, context: CallContext): Promise<z.input<typeof ModelRes>> {
      baseModels.assertAvailable()
      const entity = req.entity ?? context.caller.defaultEntity
      const name = { entity, project: req.project, name: req.name }
      const found = await findModelByName(control, name)
      if (found !== undefined && req.return_existing !== true) {
        throw conflict(`Model ${entity}/${req.project}/${req.name} already exists`)
      }
      const row = found ?? (await insert(req, name, context))
      if (row.base_model !== req.base_model) {
        throw conflict(
          `Model ${entity}/${req.project}/${req.name} already exists with base model ${row.base_model}`,
        )
      }
      const { id, project, base_model, run_id } = row
      return { id, entity, project, name: row.name, base_model, run_id }
    },

    /** Deletes a model with its checkpoints. Wire: clients retry DELETE, so what is gone already is no error. */
    async delete({ model_id }: { model_id: string }): Promise<z.input<typeof ModelDeleteRes>> {
      const row = await findModel(control, model_id)
      if (row === undefined && !(await wasModel(control, model_id))) throw notFound('model', model_id)
      // The row goes first: a job that ends at this moment then finds no model to add a step to.
      await control.deleteFrom('models').where('id', '=', model_id).execute()
      await cancelJobs(model_id)
      return {
        model_id,
        deleted_checkpoints: await checkpoints.deleteAll(model_id),
        deleted_run: false,
      }
    },

    find: (name: ModelName): Promise<ModelRow | undefined> => findModelByName(control, name),

    list: (entity: string): Promise<ModelRow[]> => listModels(control, { entity, limit: LIST_MAX }),

    /** Models of this bare name in any project of an entity. */
    async named(wanted: { entity: string; name: string }): Promise<ModelRow[]> {
      return control
        .selectFrom('models')
        .selectAll()
        .where('entity', '=', wanted.entity)
        .where('name', '=', wanted.name)
        .limit(2)
        .execute()
    },
  }
}
