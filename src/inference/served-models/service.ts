import type { ClosedPlaces } from '../../accounts/projects.ts'
import { invalidRequest, notFound } from '../../errors.ts'
import type { CallContext, Caller } from '../../http/caller.ts'
import type { BaseModels } from '../../training/base-models/service.ts'
import type { StoredCheckpoint } from '../../training/checkpoints/rows.ts'
import type { Checkpoints } from '../../training/checkpoints/service.ts'
import type { ModelRegistry } from '../../training/model-registry/service.ts'
import { type ModelName, parseModelName } from './model-name.ts'
import type { ServedModel } from './wire.ts'

/** The weights that answer a request. */
export interface Target {
  baseModel: string
  /** Undefined for the base model itself. */
  trained: TrainedStep | undefined
}

/** One step of a model. */
export interface TrainedStep {
  entity: string
  project: string
  name: string
  checkpoint: StoredCheckpoint
}

/** The name of a model without its step: `entity/project/name`, or the base model's. */
export function nameOf({ baseModel, trained }: Target): string {
  return trained === undefined ? baseModel : `${trained.entity}/${trained.project}/${trained.name}`
}

export interface ServedModelsDeps {
  models: Pick<ModelRegistry, 'all' | 'find' | 'named'>
  checkpoints: Checkpoints
  baseModels: BaseModels
  defaultBaseModel: string
  /** Projects that are being erased, whose models cannot be used. */
  closed: Pick<ClosedPlaces, 'has'>
}

/** Resolves model names to weights. An unknown name or step is an error; there is no fallback. */
export interface ServedModels {
  /** Base models with the time of their first use; the default one has been there from the start. */
  baseModelsSince(): Promise<Map<string, string>>
  /** @throws 404 for an unknown name or step, 400 for a name that several projects have. */
  resolve(requested: string | null | undefined, caller: Caller): Promise<Target>
  /** All names a caller can use: base models, then models, each standing for its newest step. */
  list(input: object, context: CallContext): Promise<{ object: 'list'; data: ServedModel[] }>
  /** One model or step, by any of its names. @throws as {@link resolve}. */
  read(req: { model: string }, context: CallContext): Promise<ServedModel>
}

export function createServedModels({
  models,
  checkpoints,
  baseModels,
  defaultBaseModel,
  closed,
}: ServedModelsDeps): ServedModels {
  /** A key may be limited to asking models, and another to reading. */
  function mayUse({ rights }: Caller, { entity, project }: { entity: string; project: string }): boolean {
    const place = { entity, project }
    return !closed.has(place) && (rights.allows('infer', place) || rights.allows('read', place))
  }

  async function findModel(name: ModelName, caller: Caller) {
    if (name.kind === 'artifact') {
      const found = await models.find(name)
      return found !== undefined && mayUse(caller, found) ? found : undefined
    }
    const { defaultEntity: entity, rights } = caller
    const named = await models.named({ entity, name: name.name, project: rights.project })
    const [found, another] = named.filter((model) => mayUse(caller, model))
    if (another !== undefined) {
      throw invalidRequest(
        `Several projects have a model ${name.name}; write entity/project/${name.name}`,
        'model',
      )
    }
    return found
  }

  async function baseModelsSince(): Promise<Map<string, string>> {
    const used = await baseModels.used()
    const since = used.map((base): [string, string] => [base.base_model, base.created_at])
    return new Map([[defaultBaseModel, new Date(0).toISOString()], ...since])
  }

  async function lookUp(requested: string | null | undefined, caller: Caller) {
    // Wire: no model, or null, means the base model.
    const text = requested ?? defaultBaseModel
    if (text === defaultBaseModel) return { baseModel: text }
    const name = parseModelName(text)
    const model = name && (await findModel(name, caller))
    const checkpoint = model && (await checkpoints.find(model, name.checkpoint))
    if (model !== undefined && checkpoint !== undefined)
      return { baseModel: model.base_model, model, checkpoint }
    if (model === undefined && (await baseModelsSince()).has(text)) return { baseModel: text }
    if (model !== undefined) throw notFound('checkpoint of model', text, { param: 'model' })
    throw notFound('model', text, { param: 'model' })
  }

  async function resolve(requested: string | null | undefined, caller: Caller): Promise<Target> {
    const { baseModel, model, checkpoint } = await lookUp(requested, caller)
    if (model === undefined) return { baseModel, trained: undefined }
    const { entity, project, name } = model
    return { baseModel, trained: { entity, project, name, checkpoint } }
  }

  async function list(
    _input: object,
    { caller }: CallContext,
  ): Promise<{ object: 'list'; data: ServedModel[] }> {
    const all = await models.all(caller.defaultEntity, caller.rights.project)
    const trained = all.filter((model) => mayUse(caller, model))
    return {
      object: 'list',
      data: [
        ...[...(await baseModelsSince())].map(([id, since]) => baseEntry(id, since)),
        ...trained.map((model) =>
          trainedEntry(`wandb-artifact:///${model.entity}/${model.project}/${model.name}`, model),
        ),
      ],
    }
  }

  async function read({ model: id }: { model: string }, { caller }: CallContext): Promise<ServedModel> {
    const { baseModel, model } = await lookUp(id, caller)
    if (model !== undefined) return trainedEntry(id, model)
    return baseEntry(baseModel, (await baseModelsSince()).get(baseModel) ?? '')
  }

  return { baseModelsSince, resolve, list, read }
}

function baseEntry(id: string, since: string): ServedModel {
  return { id, object: 'model', created: secondsOf(since), owned_by: 'heddle', root: id, parent: null }
}

function trainedEntry(
  id: string,
  model: { created_at: string; entity: string; base_model: string },
): ServedModel {
  return {
    id,
    object: 'model',
    created: secondsOf(model.created_at),
    owned_by: model.entity,
    root: model.base_model,
    parent: model.base_model,
  }
}

function secondsOf(iso: string): number {
  return Math.floor(Date.parse(iso) / 1000)
}
