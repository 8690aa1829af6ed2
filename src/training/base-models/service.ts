import { z } from 'zod'
import { unavailable } from '../../errors.ts'
import { newId } from '../../ids.ts'
import type { Compute, Inference, Trainer } from '../../stores/compute/port.ts'
import type { ControlDb } from '../../stores/control-db/tables.ts'
import { nowIso } from '../../time.ts'
import { type CheckpointFiles, ManifestEntry, type StoredFiles } from '../checkpoints/files.ts'
import { WorkerMessage, type WorkerRequest } from '../jobs/contract-wire.ts'

/** The adapter that the original service trains: its rank, its scale, its layers, its random state. */
const LORA = {
  rank: 8,
  alpha: 16,
  target_modules: ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'],
  seed: 3407,
}

export type BaseModels = ReturnType<typeof createBaseModels>

export interface BaseModelsDeps {
  control: ControlDb
  compute: Compute
  files: CheckpointFiles
}

/** Base models and the one thing every model of theirs starts from. */
export function createBaseModels({ control, compute, files }: BaseModelsDeps) {
  const initialAdapters = new Map<string, Promise<StoredFiles>>()

  async function findOrMake(baseModel: string): Promise<StoredFiles> {
    const row = await control
      .selectFrom('initial_adapters')
      .selectAll()
      .where('base_model', '=', baseModel)
      .executeTakeFirst()
    if (row !== undefined)
      return { manifest: parseManifest(row.manifest), adapter_digest: row.adapter_digest }
    const directory = await files.outputFolder()
    try {
      await createAdapter(compute.trainer(baseModel), directory)
      const stored = await files.store(directory)
      await control
        .insertInto('initial_adapters')
        .values({
          base_model: baseModel,
          adapter_digest: stored.adapter_digest,
          manifest: JSON.stringify(stored.manifest),
          created_at: nowIso(),
        })
        .execute()
      return stored
    } finally {
      await files.removeOutput(directory)
    }
  }

  function initialAdapter(baseModel: string): Promise<StoredFiles> {
    let adapter = initialAdapters.get(baseModel)
    if (adapter === undefined) {
      adapter = findOrMake(baseModel)
      initialAdapters.set(baseModel, adapter)
      adapter.catch(() => initialAdapters.delete(baseModel))
    }
    return adapter
  }

  return {
    accelerator: compute.accelerator,

    isAvailable: (): boolean => compute.unavailable === undefined,

    /** @throws 503 that says how to install the engine. */
    assertAvailable(): void {
      if (compute.unavailable !== undefined) throw unavailable(compute.unavailable, 60)
    },

    /**
     * The adapter that changes nothing: step 0 of every model, made when first asked for.
     * @throws 503 when the engine cannot make it before the signal ends the waiting.
     */
    async initialAdapter(baseModel: string, signal: AbortSignal): Promise<StoredFiles> {
      const aborted = new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(stillStarting(baseModel)), { once: true })
      })
      return Promise.race([initialAdapter(baseModel), aborted])
    },

    trainer: (baseModel: string): Trainer => compute.trainer(baseModel),
    inference: (baseModel: string): Inference => compute.inference(baseModel),

    /** Base models that have been used here, oldest first. */
    async used(): Promise<{ base_model: string; created_at: string }[]> {
      return control
        .selectFrom('initial_adapters')
        .select(['base_model', 'created_at'])
        .orderBy('created_at')
        .execute()
    },

    /** Starts a base model's processes ahead of the first request. */
    async warmUp(baseModel: string): Promise<void> {
      if (compute.unavailable !== undefined) return
      compute.inference(baseModel)
      compute.trainer(baseModel)
      await initialAdapter(baseModel)
    },
  }
}

/** 503 for whoever has waited long enough. */
export function stillStarting(baseModel: string): Error {
  return unavailable(`The engine for ${baseModel} is still starting`, 10)
}

function parseManifest(text: string): ManifestEntry[] {
  return z.array(ManifestEntry).parse(JSON.parse(text))
}

async function createAdapter(trainer: Trainer, directory: string): Promise<void> {
  const request: WorkerRequest = {
    kind: 'create_adapter',
    request_id: newId(),
    output_dir: directory,
    lora: LORA,
  }
  for await (const raw of trainer.run(request, new AbortController().signal)) {
    const message = WorkerMessage.parse(raw)
    if (message.kind === 'request_failed' && message.request_id === request.request_id) {
      throw unavailable(`The first adapter could not be made: ${message.error_message}`)
    }
    if (message.kind === 'adapter_created' && message.request_id === request.request_id) return
  }
}
