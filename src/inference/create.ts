import type { EngineOptions, Training } from '../training/create.ts'
import { createLoadedAdapters } from './chat-completions/loaded-adapters.ts'
import { createServedModels } from './chat-completions/served-models.ts'
import { createChatCompletions } from './chat-completions/service.ts'

/** Wires the inference half. */
export function createChatServices(training: Training, engine: EngineOptions) {
  const { models, checkpoints, baseModels, checkpointFiles } = training
  const served = createServedModels({
    models,
    checkpoints,
    baseModels,
    defaultBaseModel: engine.baseModel,
  })
  const loaded = createLoadedAdapters({ files: checkpointFiles })
  const chatCompletions = createChatCompletions({ served, loaded, baseModels })
  return {
    chatCompletions,
    /** Nobody waits for this; what goes wrong shows with the first request. */
    warmUpChat: () => chatCompletions.warmUp(engine.baseModel).catch(() => {}),
  }
}
