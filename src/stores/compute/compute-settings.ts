import { join, resolve } from 'node:path'
import type { ComputeOptions } from './compute.ts'
import type { EngineConfig } from './engine-settings.ts'
import { createBaseModelFinder, ownModelsFolder } from './find-base-model.ts'

/** The checkout, which has the engine and the base models that ship with it. */
export const REPOSITORY_FOLDER = resolve(import.meta.dirname, '../../..')

/** The engine's code and base models. */
export const ENGINE_FOLDER = join(REPOSITORY_FOLDER, 'engine')

type FromSettings =
  | 'loraRankMax'
  | 'priorityScheduling'
  | 'mmProcessorKwargs'
  | 'maxNumSeqs'
  | 'defaultBaseModel'
  | 'findBaseModel'
  | 'idleMs'
  | 'stallMs'
  | 'remote'

/**
 * What follows from a server's settings, wherever the engine's processes run.
 * @param environment in which base models are looked for
 */
export function computeSettings(
  engine: EngineConfig,
  environment: NodeJS.ProcessEnv,
): Pick<ComputeOptions, FromSettings> {
  return {
    loraRankMax: engine.loraRankMax,
    priorityScheduling: engine.priorityScheduling,
    mmProcessorKwargs: engine.mmProcessorKwargs,
    maxNumSeqs: engine.maxNumSeqs,
    defaultBaseModel: engine.baseModel,
    findBaseModel: createBaseModelFinder({
      ownModels: ownModelsFolder(REPOSITORY_FOLDER),
      configured: [engine.baseModel, ...engine.baseModels],
      environment,
    }),
    idleMs: engine.idleMinutes * 60_000,
    stallMs: engine.stallSeconds * 1000,
    remote: engine.vllm,
  }
}
