import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { homedir, totalmem } from 'node:os'
import { join } from 'node:path'

/** GB are 2^30 bytes, as the engine's own settings have them. */
export const GB = 1024 ** 3

/** The rest is for this server, its databases, the page cache and what a training step computes with. */
const MACHINE_SHARE = 0.8

/** Measured: vLLM on a CPU takes 2.2 GB with a base model of 0.01 GB and 1 GB of KV cache. */
const INFERENCE_PROCESS_GB = 1.2

/** Measured: a trainer takes 0.8 GB at its peak with the same base model. */
const TRAINER_PROCESS_GB = 0.8

/** Assumed of a base model whose weights are not on this disk yet: 1.5 billion parameters in float32. */
const UNKNOWN_WEIGHTS_GB = 6

/** `nvidia-smi` answers within a second, unless the driver hangs. */
const NVIDIA_SMI_MS_MAX = 5_000

/** Of the dtypes that base models come in; others count as two bytes. */
const DTYPE_BYTES: Record<string, number> = { float64: 8, float32: 4, bfloat16: 2, float16: 2 }

export interface MemoryOptions {
  accelerator: 'cpu' | 'gpu'
  /** Undefined for the default. */
  memoryGb: number | undefined
  kvCacheGb: number
  /** The share of a GPU that each inference server takes. */
  gpuMemory: number
  environment: NodeJS.ProcessEnv
}

/** What the parts of a base model need, in bytes. */
export interface MemoryNeeds {
  budgetBytes: number
  inferenceBytes(location: string): number
  trainerBytes(location: string): number
}

/**
 * Estimates: weights in the dtype that is computed with (float32 on a CPU, bfloat16 on a GPU), plus the KV cache, plus
 * what a process takes without either. On GPUs an inference server takes its share of each, and the budget is one GPU.
 */
export function createMemoryNeeds(options: MemoryOptions): MemoryNeeds {
  const { accelerator, memoryGb, environment } = options
  const onGpu = accelerator === 'gpu'
  const wholeBytes = (onGpu ? gpuBytes(environment) : undefined) ?? machineBytes()
  const share = onGpu ? 1 : MACHINE_SHARE
  const weightsBytes = (location: string): number => {
    const parameters = parametersOf(location, environment)
    return parameters === undefined ? UNKNOWN_WEIGHTS_GB * GB : parameters * (onGpu ? 2 : 4)
  }
  return {
    budgetBytes: memoryGb === undefined ? wholeBytes * share : memoryGb * GB,
    inferenceBytes: (location) =>
      onGpu
        ? options.gpuMemory * wholeBytes
        : weightsBytes(location) + (options.kvCacheGb + INFERENCE_PROCESS_GB) * GB,
    trainerBytes: (location) => weightsBytes(location) + TRAINER_PROCESS_GB * GB,
  }
}

/** The memory of the machine, or of the container that this server runs in. */
function machineBytes(): number {
  const limit = process.constrainedMemory()
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}

/** The memory of the smallest GPU; undefined where nothing tells. */
function gpuBytes(environment: NodeJS.ProcessEnv): number | undefined {
  try {
    const args = ['--query-gpu=memory.total', '--format=csv,noheader,nounits']
    const text = execFileSync('nvidia-smi', args, { env: environment, timeout: NVIDIA_SMI_MS_MAX })
    const megabytes = text.toString().trim().split('\n').map(Number).filter(Number.isFinite)
    return megabytes.length === 0 ? undefined : Math.min(...megabytes) * 1024 ** 2
  } catch {
    return undefined
  }
}

/** How many parameters a base model has: the bytes of its weights by those of one; undefined when none can be read. */
function parametersOf(location: string, environment: NodeJS.ProcessEnv): number | undefined {
  try {
    const folder = isFolder(location) ? location : cachedFolder(location, environment)
    const files = readdirSync(folder).filter((name) => name.endsWith('.safetensors'))
    if (files.length === 0) return undefined
    const bytes = files.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
    return bytes / (DTYPE_BYTES[dtypeOf(folder)] ?? 2)
  } catch {
    // It need not be here, and its name may be one that no file can have.
    return undefined
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

/** Where the Hugging Face libraries keep the main revision of a model. @throws Error when they have not fetched it. */
function cachedFolder(id: string, environment: NodeJS.ProcessEnv): string {
  const { HF_HUB_CACHE, HF_HOME, XDG_CACHE_HOME } = environment
  const home = HF_HOME ?? join(XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'huggingface')
  const folder = join(HF_HUB_CACHE ?? join(home, 'hub'), `models--${id.replaceAll('/', '--')}`)
  return join(folder, 'snapshots', readFileSync(join(folder, 'refs/main'), 'utf8').trim())
}

function dtypeOf(folder: string): string {
  try {
    const config: unknown = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'))
    // Both names are in use; `dtype` is the newer one.
    const { dtype, torch_dtype } = config as { dtype?: unknown; torch_dtype?: unknown }
    return String(dtype ?? torch_dtype)
  } catch {
    return 'bfloat16'
  }
}
