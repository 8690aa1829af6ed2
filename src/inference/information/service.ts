import type { z } from 'zod'
import type { Limits } from '../../config.ts'
import type { CallContext } from '../../http/caller.ts'
import type { Compute, Inference, InferenceProcess } from '../../stores/compute/port.ts'
import type { Checkpoints } from '../../training/checkpoints/service.ts'
import type { ModelRegistry } from '../../training/model-registry/service.ts'
import type { LimitsOf } from '../gateway/admission.ts'
import type { LoadedAdapters } from '../gateway/loaded-adapters.ts'
import type { Gateway } from '../gateway/service.ts'
import type { ServedModels } from '../served-models/service.ts'
import { createHardware } from './hardware.ts'
import type { AnalysisModelsRes, HardwareRes, RouterModelsRes } from './wire.ts'

export interface InferenceInformationDeps {
  version: string
  compute: Compute
  gateway: Pick<Gateway, 'load' | 'speedsOf'>
  loaded: Pick<LoadedAdapters, 'digestsIn'>
  served: Pick<ServedModels, 'baseModelsSince'>
  models: Pick<ModelRegistry, 'all'>
  checkpoints: Pick<Checkpoints, 'countSteps' | 'withAdapters'>
  limits: LimitsOf
}

type RouterModels = z.input<typeof RouterModelsRes>

/** The models this server can serve, their speeds, and the hardware. */
export interface InferenceInformation {
  /** The available models, their engines, and free capacity. */
  routerModels(input: object, context: CallContext): Promise<RouterModels>
  /** How fast each model has answered. */
  analysisModels(input: object, context: CallContext): Promise<z.input<typeof AnalysisModelsRes>>
  hardware(): Promise<z.input<typeof HardwareRes>>
}

export function createInferenceInformation(deps: InferenceInformationDeps): InferenceInformation {
  const { compute, gateway, loaded, served, models, checkpoints, limits } = deps

  async function baseModels(): Promise<{ id: string; base_model: string; created_at: string }[]> {
    const since = [...(await served.baseModelsSince())]
    return since.map(([id, created_at]) => ({ id, base_model: id, created_at }))
  }

  async function trainedModels({ caller }: CallContext) {
    const all = await models.all(caller.defaultEntity, caller.rights.project)
    const rows = all.filter(
      (model) => caller.rights.allows('read', model) || caller.rights.allows('infer', model),
    )
    return rows.map((row) => ({ ...row, model_id: row.id, id: `${row.entity}/${row.project}/${row.name}` }))
  }

  async function routedModels(context: CallContext): Promise<RouterModels['models']> {
    const bases = await baseModels()
    const trained = await trainedModels(context)
    const running = runningProcesses(compute)
    const rows = await checkpoints.withAdapters([...running.values()].flatMap(loaded.digestsIn))
    const loadedOf = Map.groupBy(rows, (row) => row.model_id)
    const counts = await checkpoints.countSteps(trained.map((model) => model.model_id))
    const countOf = new Map(counts.map((row) => [row.model_id, row]))
    return [
      ...bases.map((base) => {
        const stepless = { steps: null, newest_step: null, loaded_steps: [] }
        return { ...base, loaded: running.has(base.id), ...stepless }
      }),
      ...trained.map(({ id, model_id, base_model, created_at }) => {
        const { steps, newest_step } = countOf.get(model_id) ?? { steps: 0, newest_step: null }
        const loaded_steps = (loadedOf.get(model_id) ?? []).map(({ step }) => step)
        const isLoaded = newest_step !== null && loaded_steps.includes(newest_step)
        return { id, base_model, created_at, loaded: isLoaded, steps, newest_step, loaded_steps }
      }),
    ]
  }

  async function routerModels(_input: object, context: CallContext): Promise<RouterModels> {
    const known = await routedModels(context)
    const { keyId, defaultEntity, rights } = context.caller
    const project = `${defaultEntity}/${rights.project ?? ''}`
    const { engines, ...requests } = gateway.load()
    const parts = compute.statuses().map(({ last_lines: _, ...part }) => part)
    const byBaseModel = Map.groupBy(parts, (part) => part.base_model)
    return {
      unavailable: compute.unavailable?.reason ?? null,
      models: known,
      engines: [...byBaseModel].map(([base_model, own]) => {
        return { base_model, parts: own, ...(engines.get(base_model) ?? NO_LOAD) }
      }),
      requests,
      limits: { key: shownLimits(limits.key(keyId)), project: shownLimits(limits.project(project)) },
      memory: compute.memory(),
    }
  }

  async function analysisModels(
    _input: object,
    context: CallContext,
  ): Promise<z.input<typeof AnalysisModelsRes>> {
    const known = [...(await baseModels()), ...(await trainedModels(context))]
    return {
      models: known.map(({ id, base_model }) => ({ id, base_model, speeds: gateway.speedsOf(id) ?? null })),
    }
  }

  return { routerModels, analysisModels, hardware: createHardware(deps) }
}

/** The inference processes that answer at this moment, by their base models; starts none. */
function runningProcesses(compute: Compute): Map<string, InferenceProcess> {
  const known = new Set(compute.statuses().map((part) => part.base_model))
  const running = [...known].map((base): [string, ReturnType<Inference['running']>] => [
    base,
    compute.inference(base).running(),
  ])
  return new Map(running.flatMap(([base, process]) => (process === undefined ? [] : [[base, process]])))
}

/** Of an engine that has not been requested yet. */
const NO_LOAD = { answers: 0, answers_max: null, waiting: 0 }

/** JSON has no infinity. */
function shownLimits({ requestsMax, tokensPerMinute }: Limits) {
  const finite = (value: number): number | null => (Number.isFinite(value) ? value : null)
  return { requests_max: finite(requestsMax), tokens_per_minute: finite(tokensPerMinute) }
}
