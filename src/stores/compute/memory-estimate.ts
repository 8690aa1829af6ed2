import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import type { Log } from '../../log.ts'
import { machineBytes } from '../machine-bytes.ts'
import type { BaseQuantization } from './engine-settings.ts'
import { readGpuBytes, UnknownGpuMemory } from './gpu-memory.ts'
import { cachedModelFolder, isFolder } from './model-folders.ts'

/** GB are 2^30 bytes, as the engine's own settings have them. */
export const GB = 1024 ** 3

/** The rest is for this server, its databases, the page cache and what a training step computes with. */
const MACHINE_SHARE = 0.8

/** Measured: vLLM on a CPU takes 2.2 GB with a base model of 0.01 GB and 1 GB of KV cache. */
const INFERENCE_PROCESS_GB = 1.2

/** Measured: a trainer takes 0.8 GB at its peak with the same base model. */
const TRAINER_PROCESS_GB = 0.8

/**
 * Bytes of a weight in 4 bits with its scale: as bitsandbytes trains with it, and as vLLM serves it
 * (engine/src/engine/memory.py).
 */
const NF4_BYTES = { trainer: 0.516, inference: 0.5625 }

export type ProcessKind = keyof typeof NF4_BYTES

/** Assumed of a base model whose weights are not on this disk yet: 1.5 billion parameters in float32. */
const UNKNOWN_WEIGHTS_GB = 6

/** How long the measured size of a base model is kept: its weights may still be downloading. */
const KNOWN_MS = 10_000

/** Base models whose size is kept. */
const KNOWN_MAX = 100

/** Of the dtypes that base models come in; others count as two bytes. */
const DTYPE_BYTES: Record<string, number> = { float64: 8, float32: 4, bfloat16: 2, float16: 2 }

export interface MemoryOptions {
  accelerator: 'cpu' | 'gpu'
  /** Undefined for the default. */
  memoryGb: number | undefined
  kvCacheGb: number
  /** The share of a GPU that each inference server takes. */
  gpuMemory: number
  /** As `nvidia-smi` numbers them; both empty for the first. */
  gpus: { serving: readonly number[]; training: readonly number[] }
  baseQuantization: BaseQuantization
  environment: NodeJS.ProcessEnv
}

/** The memory that the processes of a base model need, in bytes, from the size of its weights. */
export interface MemoryNeeds {
  budgetBytes: number
  /** Whether trainers have GPUs, and so a budget, of their own. */
  trainersApart: boolean
  inferenceBytes(location: string): number
  trainerBytes(location: string): number
  /**
   * Takes room of the machine for the weights that a process moves there in order to sleep, until the returned function
   * is called, once they are there. @returns undefined where there is no room
   */
  reserveAsleep(kind: ProcessKind, location: string): (() => void) | undefined
  /** Measures the weights, unless that was done a moment ago. */
  measure(location: string): Promise<void>
}

/**
 * Estimates: weights in the dtype that is computed with (float32 on a CPU, bfloat16 on a GPU), all but embeddings and
 * head in 4 bits where that is set, plus the KV cache, plus what a process takes without either. On GPUs an inference
 * server takes its share of each, a trainer has an equal part of the weights on each, or all of them where they are in
 * 4 bits, and the budget is that of one GPU.
 *
 * @throws Error where GPUs are named that this machine does not have, or their memory is neither set nor known.
 */
export function createMemoryNeeds(options: MemoryOptions, log: Pick<Log, 'warn'>): MemoryNeeds {
  const { accelerator, memoryGb, environment } = options
  const onGpu = accelerator === 'gpu'
  const { serving, training } = options.gpus
  if (!onGpu && training.length > 0) throw new Error('HEDDLE_GPUS_SERVING: this machine has no NVIDIA driver')
  const wholeBytes = onGpu ? gpuBytesOf(options, log) : machineBytes()
  const share = onGpu ? 1 : MACHINE_SHARE
  const known = createKnownSizes(environment)
  const inFourBits = options.baseQuantization === 'nf4'
  const weightsBytes = (location: string, kind: ProcessKind): number => {
    const found = known.parametersOf(location)
    if (found === undefined) return UNKNOWN_WEIGHTS_GB * GB
    const bytes = onGpu ? 2 : 4
    return found.inLayers * (inFourBits ? NF4_BYTES[kind] : bytes) + found.embeddings * bytes
  }
  const numTrainers = Math.max(1, training.length)
  let reservedBytes = 0
  return {
    budgetBytes: memoryGb === undefined ? wholeBytes * share : memoryGb * GB,
    inferenceBytes: (location) =>
      onGpu
        ? options.gpuMemory * wholeBytes
        : weightsBytes(location, 'inference') + (options.kvCacheGb + INFERENCE_PROCESS_GB) * GB,
    trainersApart: training.some((gpu) => !serving.includes(gpu)),
    trainerBytes: (location) =>
      weightsBytes(location, 'trainer') / (inFourBits ? 1 : numTrainers) + TRAINER_PROCESS_GB * GB,
    reserveAsleep(kind, location) {
      const bytes = weightsBytes(location, kind) * (kind === 'trainer' && inFourBits ? numTrainers : 1)
      if (reservedBytes + bytes > MACHINE_SHARE * process.availableMemory()) return undefined
      reservedBytes += bytes
      return () => {
        reservedBytes -= bytes
      }
    },
    measure: known.measure,
  }
}

/** The memory of one GPU, for which a budget that is set stands where it cannot be read. */
function gpuBytesOf({ gpus, memoryGb, environment }: MemoryOptions, log: Pick<Log, 'warn'>): number {
  try {
    return readGpuBytes({ named: [...new Set([...gpus.serving, ...gpus.training])], environment })
  } catch (error) {
    if (!(error instanceof UnknownGpuMemory)) throw error
    if (memoryGb === undefined) throw new Error(`${error.message}; set HEDDLE_ENGINE_MEMORY_GB`)
    log.warn(`${error.message}; HEDDLE_ENGINE_MEMORY_GB is taken for the memory of a GPU`)
    return memoryGb * GB
  }
}

/** Those in layers, which may be in 4 bits, and those of embeddings and head, which never are. */
interface ParameterCounts {
  inLayers: number
  embeddings: number
}

/** The members that are used of a base model's `config.json`; their values are not checked. */
interface ModelConfig {
  dtype?: unknown
  torch_dtype?: unknown
  vocab_size?: unknown
  hidden_size?: unknown
  tie_word_embeddings?: unknown
  text_config?: ModelConfig
}

/** How many parameters base models have, read from disk without blocking: status requests need it often. */
function createKnownSizes(environment: NodeJS.ProcessEnv) {
  const sizes = new LRUCache<
    string,
    { at: number; parameters: Promise<ParameterCounts | undefined>; last?: ParameterCounts }
  >({
    max: KNOWN_MAX,
  })

  async function measure(location: string): Promise<void> {
    const before = sizes.get(location)
    if (before !== undefined && performance.now() - before.at < KNOWN_MS) {
      await before.parameters
      return
    }
    const parameters = readParameters(location, environment)
    const entry = {
      at: performance.now(),
      parameters,
      ...(before?.last !== undefined && { last: before.last }),
    }
    sizes.set(location, entry)
    const found = await parameters
    sizes.set(location, { at: entry.at, parameters, ...(found !== undefined && { last: found }) })
  }

  return {
    measure,

    /** The last result; undefined while there is none. Measures again in the background. */
    parametersOf(location: string): ParameterCounts | undefined {
      void measure(location)
      return sizes.get(location)?.last
    },
  }
}

/** How many parameters a base model has, by the bytes of its weights; undefined when none can be read. */
async function readParameters(
  location: string,
  environment: NodeJS.ProcessEnv,
): Promise<ParameterCounts | undefined> {
  try {
    const folder = (await isFolder(location)) ? location : await cachedModelFolder(location, environment)
    if (folder === undefined) return undefined
    const files = (await readdir(folder)).filter((name) => name.endsWith('.safetensors'))
    if (files.length === 0) return undefined
    const sizes = await Promise.all(files.map(async (name) => (await stat(join(folder, name))).size))
    const { dtype, torch_dtype, ...config } = await readModelConfig(folder)
    // Both names are in use; `dtype` is the newer one.
    const all = sizes.reduce((sum, size) => sum + size, 0) / (DTYPE_BYTES[String(dtype ?? torch_dtype)] ?? 2)
    const embeddings = Math.min(all, embeddingsOf({ ...config, ...config.text_config }))
    return { inLayers: all - embeddings, embeddings }
  } catch {
    // The model may be elsewhere, and its name may be one that no file can have.
    return undefined
  }
}

/** Those of the head too, unless it has the same; none where the configuration does not say. */
function embeddingsOf({ vocab_size, hidden_size, tie_word_embeddings }: ModelConfig): number {
  const once = Number(vocab_size) * Number(hidden_size)
  if (!Number.isFinite(once)) return 0
  return tie_word_embeddings === true ? once : 2 * once
}

async function readModelConfig(folder: string): Promise<ModelConfig> {
  try {
    return JSON.parse(await readFile(join(folder, 'config.json'), 'utf8')) as ModelConfig
  } catch {
    return {}
  }
}
