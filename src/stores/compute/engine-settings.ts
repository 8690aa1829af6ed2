import { problemOfGpus } from './gpu-placement.ts'

/** How the linear layers of base models are in memory, in trainers and inference servers alike: `nf4` for 4 bits. */
export const BASE_QUANTIZATIONS = ['none', 'nf4'] as const
export type BaseQuantization = (typeof BASE_QUANTIZATIONS)[number]

/** The engine's processes and their resources; docs/CONFIGURATION.md has the defaults that are not given here. */
export interface EngineConfig {
  /** The model that is served from the start: an id of `engine/models`, a local folder or a Hugging Face id. */
  baseModel: string
  /**
   * Further base models that models may be registered of although the hub does not have them, such as local folders.
   */
  baseModels: string[]
  baseQuantization: BaseQuantization
  /** A Python with the engine's packages, instead of the one that set-up made. */
  python: string | undefined
  /** The workspace folder, which a vLLM elsewhere must see too; where it is in a bucket, that of local copies. */
  folder: string
  /** Memory that all engine processes together may take, in GB; undefined for the default. */
  memoryGb: number | undefined
  /** A process of a base model other than the default one is stopped after this long without use; 0 for never. */
  idleMinutes: number
  /** Cores that an inference server on a CPU computes with. */
  threads: number
  /** Seconds without progress after which an engine or a training job counts as hanging. */
  stallSeconds: number
  /** Of an inference server on a CPU. */
  kvCacheGb: number
  /** The share of a GPU's memory that an inference server takes. */
  gpuMemory: number
  /** GPUs, as `nvidia-smi` numbers them, that inference servers and trainers compute on; both empty for the first. */
  gpus: { serving: number[]; training: number[] }
  /** Further flags for vLLM. */
  vllmFlags: string[]
  /** Whether inference servers and trainers sleep to make room, instead of ending. */
  sleeps: boolean
  /** Rows of a job that policies other than the trained one are asked about for metrics alone. */
  metricPasses: 'all' | 'sampled' | 'none'
  /** Whether layers run a second time in the backward pass: less memory, more time. */
  gradientCheckpointing: 'auto' | 'on' | 'off'
  /** Tokens of prompt and answer; undefined for what the model allows. */
  maxModelLen: number | undefined
  /** Requests in one batch. */
  maxNumSeqs: number
  /** Adapters in one batch. */
  maxLoras: number
  /** The largest rank of an adapter. */
  loraRankMax: number
  /** Whether waiting requests are ordered by their priority. */
  priorityScheduling: boolean
  /** Whether requests may say how images, audio and video are processed, at whatever cost. */
  mmProcessorKwargs: boolean
  /**
   * Whether RL jobs without a setting of their own fail where the context of a rollout is not known to be the sampled
   * one.
   */
  requireSampledContext: boolean
  /** How the base model writes tool calls, as vLLM names it. */
  toolParser: string
  /** How the base model writes its reasoning, as vLLM names it; undefined where it writes none. */
  reasoningParser: string | undefined
  /** Serve the default base model instead of a process of this machine. */
  vllm: { urls: string[]; workers: string[]; key: string | undefined } | undefined
}

/** Settings that depend on each other: GPUs, and vLLM servers that run elsewhere. */
export interface EngineSettings {
  HEDDLE_GPUS_SERVING: number[]
  HEDDLE_GPUS_TRAINING: number[]
  HEDDLE_VLLM_URL?: string | undefined
  HEDDLE_VLLM_URLS?: string[] | undefined
  HEDDLE_VLLM_WORKERS?: string[] | undefined
  HEDDLE_VLLM_KEY?: string | undefined
}

/** One line for the user. */
interface Problem {
  name: keyof EngineSettings
  message: string
}

/** What contradicts, or would be ignored without another setting. */
export function problemsOfEngine(values: EngineSettings): Problem[] {
  const {
    HEDDLE_VLLM_URL: url,
    HEDDLE_VLLM_URLS: urls,
    HEDDLE_VLLM_WORKERS: workers,
    HEDDLE_VLLM_KEY: key,
  } = values
  const problems: Problem[] = []
  const ofGpus = problemOfGpus(values.HEDDLE_GPUS_SERVING, values.HEDDLE_GPUS_TRAINING)
  if (ofGpus !== undefined) problems.push({ name: 'HEDDLE_GPUS_TRAINING', message: ofGpus })
  if (url !== undefined && urls !== undefined)
    problems.push({
      name: 'HEDDLE_VLLM_URLS',
      message: 'HEDDLE_VLLM_URL is set as well: name all servers in one of them',
    })
  if (workers !== undefined && url === undefined)
    problems.push({ name: 'HEDDLE_VLLM_WORKERS', message: 'needs HEDDLE_VLLM_URL' })
  if (key !== undefined && url === undefined && urls === undefined)
    problems.push({ name: 'HEDDLE_VLLM_KEY', message: 'needs HEDDLE_VLLM_URL' })
  return problems
}
