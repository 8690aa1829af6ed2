import { unavailable } from '../../errors.ts'
import type { Compute, Inference } from '../../stores/compute/port.ts'
import type { ControlDb } from '../../stores/control-db/tables.ts'
import { nowIso } from '../../time.ts'
import { type CheckpointFiles, parseManifest, type StoredFiles, storedFiles } from '../checkpoints/files.ts'
import type { WorkerRequest } from '../jobs/contract-wire.ts'
import { type Lora, loraOf } from '../models/wire.ts'
import { createTrainerTurns } from './trainer-turns.ts'

export type BaseModels = ReturnType<typeof createBaseModels>

export interface BaseModelsDeps {
  control: ControlDb
  compute: Compute
  files: CheckpointFiles
}

/** Base models and what every model of theirs starts from. */
export function createBaseModels({ control, compute, files }: BaseModelsDeps) {
  const initialAdapters = new Map<string, Promise<StoredFiles>>()
  const { withTrainer, ask } = createTrainerTurns(compute)

  async function findOrMake(baseModel: string, lora: Lora): Promise<StoredFiles> {
    const key = { base_model: baseModel, lora: JSON.stringify(lora) }
    const row = await control
      .selectFrom('initial_adapters')
      .select('manifest')
      .where('base_model', '=', key.base_model)
      .where('lora', '=', key.lora)
      .executeTakeFirst()
    if (row !== undefined) return storedFiles(parseManifest(row.manifest))
    const directory = await files.outputFolder()
    try {
      await ask(baseModel, { kind: 'create_adapter', output_dir: directory, lora })
      const made = storedFiles(await files.store(`initial:${key.base_model}:${key.lora}`, directory))
      await control
        .insertInto('initial_adapters')
        .values({
          ...key,
          adapter_digest: made.adapter_digest,
          manifest: JSON.stringify(made.manifest),
          created_at: nowIso(),
        })
        .execute()
      return made
    } finally {
      await files.removeFolders([directory])
    }
  }

  function initialAdapter(baseModel: string, lora: Lora): Promise<StoredFiles> {
    const key = `${baseModel}\0${JSON.stringify(lora)}`
    let adapter = initialAdapters.get(key)
    if (adapter === undefined) {
      adapter = findOrMake(baseModel, lora)
      initialAdapters.set(key, adapter)
      adapter.catch(() => initialAdapters.delete(key))
    }
    return adapter
  }

  return {
    loraRankMax: compute.loraRankMax,
    priorityScheduling: compute.priorityScheduling,

    isAvailable: (): boolean => compute.unavailable === undefined,

    /** @throws 503 that says how to install the engine. */
    assertAvailable(): void {
      if (compute.unavailable !== undefined) throw unavailable(compute.unavailable, 60)
    },

    /**
     * The adapter that changes nothing: step 0 of every model of that shape, made when first asked for.
     * @throws 503 when the engine cannot make it before the signal ends the waiting.
     */
    initialAdapter: (baseModel: string, lora: Lora, signal: AbortSignal): Promise<StoredFiles> =>
      untilEngine(initialAdapter(baseModel, lora), signal, baseModel),

    withTrainer,
    ask,
    /** Sends a message to the worker while it is busy with something. */
    sendToTrainer: (baseModel: string, message: WorkerRequest): void =>
      compute.trainer(baseModel).send(message),
    inference: (baseModel: string): Inference => compute.inference(baseModel),

    /** Base models that have been used here, oldest first. */
    async used(): Promise<{ base_model: string; created_at: string }[]> {
      return control
        .selectFrom('initial_adapters')
        .select((eb) => ['base_model', eb.fn.min('created_at').as('created_at')])
        .groupBy('base_model')
        .orderBy('created_at')
        .execute()
    },

    /** Starts a base model's processes ahead of the first request. */
    async warmUp(baseModel: string): Promise<void> {
      if (compute.unavailable !== undefined) return
      const { signal } = new AbortController()
      const inference = compute.inference(baseModel).ready(signal)
      await Promise.all([
        inference,
        compute.trainer(baseModel).ready(signal),
        initialAdapter(baseModel, loraOf({})),
      ])
    },
  }
}

/** 503 for whoever has waited long enough. */
export function stillStarting(baseModel: string): Error {
  return unavailable(`The engine for ${baseModel} is still starting, or busy with a job`, 10)
}

/** Waits for work of the engine, which goes on without the caller. @throws 503 when the signal ends the waiting. */
export function untilEngine<Result>(
  work: Promise<Result>,
  signal: AbortSignal,
  baseModel: string,
): Promise<Result> {
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(stillStarting(baseModel)), { once: true })
  })
  return Promise.race([work, aborted])
}
