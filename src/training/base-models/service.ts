import { distance } from 'fastest-levenshtein'
import { LRUCache } from 'lru-cache'
import { invalidRequest, notInstalled, unavailable } from '../../errors.ts'
import type { Compute, Inference } from '../../stores/compute/port.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import { nowIso } from '../../time.ts'
import {
  type CheckpointFiles,
  parseManifest,
  type StoredFiles,
  storedFiles,
} from '../checkpoint-files/checkpoint-files.ts'
import type { WorkerRequest } from '../trainer/contract-wire.ts'
import { createTrainerTurns, type TrainerTurns } from '../trainer/trainer-turns.ts'
import { type Lora, loraOf } from './lora-wire.ts'
import * as queries from './queries.ts'

export interface BaseModelsDeps {
  control: ControlDb
  compute: Compute
  files: CheckpointFiles
}

/** Initial adapters kept in memory; the files of others are found by a statement. */
const INITIAL_ADAPTERS_MAX = 100

/** Base models, and the initial adapter of their models. */
export interface BaseModels
  extends TrainerTurns,
    Pick<Compute, 'loraRankMax' | 'priorityScheduling' | 'mmProcessorKwargs'> {
  /** Resolves once the engine is installed. @throws the signal's reason. */
  untilAvailable(signal: AbortSignal): Promise<void>
  /** @throws 503 that says how to install the engine. */
  assertAvailable(): void
  /**
   * Checks a base model without starting anything, since the name may be mistyped.
   * @throws 400 with the nearest names for an unknown base model.
   */
  assertThere(baseModel: string, signal: AbortSignal): Promise<void>
  /**
   * The initial adapter, which changes nothing: step 0 of every model of that shape, made on the first request.
   * @throws 503 when the engine cannot make it before the signal ends the waiting.
   */
  initialAdapter(baseModel: string, lora: Lora, signal: AbortSignal): Promise<StoredFiles>
  /** Sends a message to a busy worker. */
  sendToTrainer(baseModel: string, message: WorkerRequest): void
  /** The inference server of a base model, which starts with its first use. */
  inference(baseModel: string): Inference
  /** Base models that have been used here, oldest first. */
  used(): Promise<queries.UsedBaseModel[]>
  /** Starts a base model's processes ahead of the first request, once the engine is installed. */
  warmUp(baseModel: string, signal: AbortSignal): Promise<void>
}

export function createBaseModels({ control, compute, files }: BaseModelsDeps): BaseModels {
  const initialAdapters = new LRUCache<string, Promise<StoredFiles>>({ max: INITIAL_ADAPTERS_MAX })
  const { withTrainer, ask } = createTrainerTurns(compute)

  async function findOrMake(baseModel: string, lora: Lora): Promise<StoredFiles> {
    const key = { base_model: baseModel, lora: JSON.stringify(lora) }
    const manifest = await queries.findManifest(control, key)
    if (manifest !== undefined) return storedFiles(parseManifest(manifest))
    const directory = await files.outputFolder()
    try {
      await ask(baseModel, { kind: 'create_adapter', output_dir: directory, lora })
      const made = storedFiles(await files.store(`initial:${key.base_model}:${key.lora}`, directory))
      await queries.insertAdapter(control, {
        ...key,
        adapter_digest: made.adapter_digest,
        manifest: JSON.stringify(made.manifest),
        created_at: nowIso(),
      })
      const kept = await queries.findManifest(control, key)
      return kept === undefined ? made : storedFiles(parseManifest(kept))
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

  function assertAvailable(): void {
    if (compute.unavailable === undefined) return
    const { reason, retryAfterSeconds } = compute.unavailable
    throw retryAfterSeconds === undefined ? notInstalled(reason) : unavailable(reason, retryAfterSeconds)
  }

  async function assertThere(baseModel: string, signal: AbortSignal): Promise<void> {
    const used = (await queries.listBaseModels(control)).map(({ base_model }) => base_model)
    if (used.includes(baseModel)) return
    const finding = await compute.findBaseModel(baseModel, signal)
    if (finding.isThere) return
    const nearest = nearestNames(baseModel, [...new Set([...finding.known, ...used])])
    throw invalidRequest(
      `There is no base model ${baseModel.slice(0, NAME_CHARS_SHOWN)}: ${finding.reason}. Near that name: ${nearest.join(', ')}`,
      'base_model',
    )
  }

  async function warmUp(baseModel: string, signal: AbortSignal): Promise<void> {
    await compute.untilAvailable(signal)
    const inference = compute.inference(baseModel).ready(signal)
    await Promise.all([
      inference,
      compute.trainer(baseModel).ready(signal),
      initialAdapter(baseModel, loraOf({})),
    ])
  }

  return {
    loraRankMax: compute.loraRankMax,
    priorityScheduling: compute.priorityScheduling,
    mmProcessorKwargs: compute.mmProcessorKwargs,
    untilAvailable: (signal) => compute.untilAvailable(signal),
    assertAvailable,
    assertThere,
    initialAdapter: (baseModel, lora, signal) =>
      untilEngine(initialAdapter(baseModel, lora), signal, baseModel),
    withTrainer,
    ask,
    sendToTrainer: (baseModel, message) => compute.trainer(baseModel).send(message),
    inference: (baseModel) => compute.inference(baseModel),
    used: () => queries.listBaseModels(control),
    warmUp,
  }
}

/** Names that are suggested, and characters of an unknown name that are quoted. */
const NEAREST_MAX = 3
const NAME_CHARS_SHOWN = 100

function nearestNames(name: string, known: readonly string[]): string[] {
  const wrong = name.slice(0, NAME_CHARS_SHOWN)
  const byDistance = known
    .map((one) => ({ one, steps: distance(wrong, one) }))
    .sort((a, b) => a.steps - b.steps)
  return byDistance.slice(0, NEAREST_MAX).map(({ one }) => one)
}

/** 503 for a request that has waited long enough. */
export function stillStarting(baseModel: string): Error {
  return unavailable(`The engine for ${baseModel} is still starting, or busy with a job`, 10)
}

/** Waits for work of the engine, which continues without the caller. @throws 503 when the signal aborts, or has. */
export async function untilEngine<Result>(
  work: Promise<Result>,
  signal: AbortSignal,
  baseModel: string,
): Promise<Result> {
  const aborted = Promise.withResolvers<never>()
  const stop = () => aborted.reject(stillStarting(baseModel))
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop, { once: true })
  try {
    return await Promise.race([work, aborted.promise])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
