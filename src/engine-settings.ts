import { problemOfGpus } from './gpu-placement.ts'

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
