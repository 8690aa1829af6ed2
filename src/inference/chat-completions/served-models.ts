import type { z } from 'zod'
import { invalidRequest, notFound } from '../../errors.ts'
import type { Caller } from '../../http/caller.ts'
import type { BaseModels } from '../../training/base-models/service.ts'
import type { StoredCheckpoint } from '../../training/checkpoints/rows.ts'
import type { Checkpoints } from '../../training/checkpoints/service.ts'
import type { Models } from '../../training/models/service.ts'
import { type ModelName, parseModelName } from './model-name.ts'
import type { ServedModelsRes } from './wire.ts'

/** Who answers a request. */
export interface Target {
  baseModel: string
  /** Undefined for the base model itself. */
  checkpoint: StoredCheckpoint | undefined
}

export type ServedModels = ReturnType<typeof createServedModels>

export interface ServedModelsDeps {
  models: Models
  checkpoints: Checkpoints
  baseModels: BaseModels
  defaultBaseModel: string
}

/** Finds out which weights a model name means. An unknown name or step is an error, never something near it. */
export function createServedModels({ models, checkpoints, baseModels, defaultBaseModel }: ServedModelsDeps) {
  async function findModel(name: ModelName, caller: Caller) {
    if (name.kind === 'artifact') return models.find(name)
    const [found, another] = await models.named({ entity: caller.defaultEntity, name: name.name })
    if (another !== undefined) {
      throw invalidRequest(
        `Several projects have a model ${name.name}; write entity/project/${name.name}`,
        'model',
      )
    }
    return found
  }

  async function isBaseModel(name: string): Promise<boolean> {
    if (name === defaultBaseModel) return true
    return (await baseModels.used()).some((used) => used.base_model === name)
  }

  return {
    /** @throws 404 for a name or step that is not there. */
    async resolve(requested: string | null | undefined, caller: Caller): Promise<Target> {
      // Wire: no model, or null, means the base model.
      const text = requested ?? defaultBaseModel
      if (await isBaseModel(text)) return { baseModel: text, checkpoint: undefined }
      const name = parseModelName(text)
      const model = name && (await findModel(name, caller))
      if (name === undefined || model === undefined) throw notFound('model', text, { param: 'model' })
      const checkpoint = await checkpoints.find(model, name.checkpoint)
      if (checkpoint === undefined) throw notFound('model', text, { param: 'model' })
      return { baseModel: model.base_model, checkpoint }
    },

    /** What a caller can name: base models, then models. */
    async list(caller: Caller): Promise<z.input<typeof ServedModelsRes>> {
      const used = await baseModels.used()
      const bases = used.some((base) => base.base_model === defaultBaseModel)
        ? used
        : [{ base_model: defaultBaseModel, created_at: new Date(0).toISOString() }, ...used]
      const trained = await models.all(caller.defaultEntity)
      const entry = (
        id: string,
        of: { created: string; owner: string; root: string; parent: string | null },
      ) => ({
        id,
        object: 'model' as const,
        created: Math.floor(Date.parse(of.created) / 1000),
        owned_by: of.owner,
        root: of.root,
        parent: of.parent,
      })
      return {
        object: 'list',
        data: [
          ...bases.map(({ base_model, created_at }) =>
            entry(base_model, { created: created_at, owner: 'heddle', root: base_model, parent: null }),
          ),
          ...trained.map((model) =>
            entry(`wandb-artifact:///${model.entity}/${model.project}/${model.name}`, {
              created: model.created_at,
              owner: model.entity,
              root: model.base_model,
              parent: model.base_model,
            }),
          ),
        ],
      }
    },
  }
}
