import type { CallContext } from '../../http/caller.ts'
import type { BaseModels } from '../base-models/service.ts'
import { untilEngine } from '../base-models/service.ts'
import type { CheckpointFiles } from '../checkpoint-files/checkpoint-files.ts'
import type { ModelOfCheckpoints, StoredCheckpoint } from './rows.ts'
import type { Checkpoints } from './service.ts'
import type { CheckpointRes } from './wire.ts'

/** A merge waits this long for the worker; it continues without the caller, who may ask again. */
const MERGE_MS_MAX = 300_000

export interface MergingDeps {
  baseModels: BaseModels
  checkpoints: Checkpoints
  files: CheckpointFiles
}

/** Full models, made of a base model and a checkpoint, for servers without adapters. */
export interface Merging {
  /**
   * Merges a checkpoint unless it was merged before.
   * @throws 404, 402 where the entity has no room, 503 while the engine is busy.
   */
  merge(
    model: ModelOfCheckpoints & { base_model: string },
    text: string,
    context: CallContext,
  ): Promise<CheckpointRes>
}

export function createMerging({ baseModels, checkpoints, files }: MergingDeps): Merging {
  const merging = new Map<string, Promise<void>>()

  async function run(baseModel: string, checkpoint: StoredCheckpoint): Promise<void> {
    const output_dir = await files.outputFolder()
    const checkpoint_dir = await files.checkpointFolder(checkpoint.manifest)
    try {
      const made = await baseModels.ask(baseModel, { kind: 'merge_adapter', checkpoint_dir, output_dir })
      if (made.kind !== 'adapter_merged') throw new Error('The worker answered something else')
      await checkpoints.addMerged(checkpoint.id, {
        folder: output_dir,
        logprob_gap_max: made.logprob_gap_max,
      })
    } finally {
      await files.removeFolders([output_dir, checkpoint_dir])
    }
  }

  async function merge(
    model: ModelOfCheckpoints & { base_model: string },
    text: string,
    context: CallContext,
  ) {
    baseModels.assertAvailable()
    const { checkpoint, merged } = await checkpoints.withMerged(model, text)
    if (merged === null) {
      // A whole model is larger than anything else that a request stores, and its bytes are known when it is there.
      context.limits?.stores(model.entity, 0)
      const work = merging.get(checkpoint.id) ?? run(model.base_model, checkpoint)
      merging.set(checkpoint.id, work)
      const done = (): boolean => merging.delete(checkpoint.id)
      work.then(done, done)
      const signal = AbortSignal.any([context.signal, AbortSignal.timeout(MERGE_MS_MAX)])
      await untilEngine(work, signal, model.base_model)
    }
    return checkpoints.read(model, String(checkpoint.step))
  }

  return { merge }
}
