import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../../log.ts'
import type { Telemetry } from '../../telemetry.ts'
import { createKnownProcesses, type KnownProcess } from './known-processes.ts'
import { createMemoryBudget } from './memory-budget.ts'
import type { MemoryNeeds, ProcessKind } from './memory-estimate.ts'
import {
  type Compute,
  type EngineMemory,
  EngineProcessLost,
  type Inference,
  type Trainer,
  type Unavailable,
} from './port.ts'
import type { Programs } from './program.ts'
import { createRemoteVllm } from './remote-vllm.ts'
import type { SleepMemory } from './supervisor.ts'
import { createTrainer } from './trainer.ts'
import { createVllm } from './vllm.ts'
import { createReplicas } from './vllm-replicas.ts'

/** An engine that is being installed is available some minutes later; a check reads one small file. */
const INSTALLED_POLL_MS = 1_000

export interface ComputeOptions {
  log: Log
  telemetry: Telemetry
  loraRankMax: number
  priorityScheduling: boolean
  mmProcessorKwargs: boolean
  /** Requests that one inference server computes in one batch. */
  maxNumSeqs: number
  /** Served from the start, and the last to be stopped. */
  defaultBaseModel: string
  findBaseModel: Compute['findBaseModel']
  programs: Programs
  memory: MemoryNeeds
  /** An engine process without use for this long is stopped; 0 for never. */
  idleMs: number
  /** An engine that is silent for this long counts as hanging. */
  stallMs: number
  /** The root of the workspace as inference servers see it, remote ones too: a path, or an address of S3. */
  workspaceRoot: string
  /** What a process keeps of its memory while it sleeps to make room; undefined where it is ended instead. */
  sleepingBytes?: number | undefined
  /** Serves the default base model in place of a process of this machine. */
  remote: RemoteOptions | undefined
}

export interface RemoteOptions {
  /** Replicas among which this server chooses; one may be a router in front of several. */
  urls: readonly string[]
  /** The servers behind a router. */
  workers: readonly string[]
  key: string | undefined
}

/** The engine processes of each base model. */
export function openCompute(options: ComputeOptions): Compute {
  const { log, telemetry, programs, memory, stallMs, workspaceRoot, remote, maxNumSeqs } = options
  const newBudget = () => createMemoryBudget({ budgetBytes: memory.budgetBytes, idleMs: options.idleMs })
  const inferenceBudget = newBudget()
  const trainerBudget = memory.trainersApart ? newBudget() : inferenceBudget
  const trainers = createKnownProcesses(newTrainer, options.defaultBaseModel)
  const inferences = createKnownProcesses(newInference, options.defaultBaseModel)

  function shared(kind: string, baseModel: string) {
    const rank = baseModel === options.defaultBaseModel ? ('keep' as const) : ('stop-when-idle' as const)
    const measure = () => memory.measure(baseModel)
    return { name: `${kind} ${baseModel}`, log, rank, stallMs, workspaceRoot, measure }
  }

  function sleepMemoryOf(kind: ProcessKind, baseModel: string): SleepMemory | undefined {
    const { sleepingBytes: bytes } = options
    return bytes === undefined ? undefined : { bytes, reserve: () => memory.reserveAsleep(kind, baseModel) }
  }

  function newTrainer(baseModel: string): KnownProcess<Trainer> {
    if (programs.missing !== undefined) throw new EngineProcessLost(programs.missing)
    const memoryBytes = () => memory.trainerBytes(baseModel)
    const start = programs.trainer(baseModel)
    return createTrainer({
      ...shared('trainer', baseModel),
      budget: trainerBudget,
      memoryBytes,
      sleep: sleepMemoryOf('trainer', baseModel),
      start,
    })
  }

  function newInference(baseModel: string): KnownProcess<Inference> {
    const common = {
      ...shared('inference', baseModel),
      budget: inferenceBudget,
      servedModel: baseModel,
      telemetry,
    }
    if (remote !== undefined && baseModel === options.defaultBaseModel) {
      const { urls, ...others } = remote
      // Others gain nothing by its end.
      const budget = newBudget()
      const requestsMax = maxNumSeqs * Math.max(1, others.workers.length)
      const replicas = urls.map((url) => createRemoteVllm({ ...common, ...others, budget, url, requestsMax }))
      const [only] = replicas
      return replicas.length === 1 && only !== undefined ? only : createReplicas(replicas)
    }
    if (programs.missing !== undefined) throw new EngineProcessLost(programs.missing)
    const memoryBytes = () => memory.inferenceBytes(baseModel)
    return createVllm({
      ...common,
      memoryBytes,
      requestsMax: maxNumSeqs,
      sleep: sleepMemoryOf('inference', baseModel),
      start: (key) => programs.inference(baseModel, key),
    })
  }

  function unavailable(): Unavailable | undefined {
    const reason = remote === undefined ? programs.missing : undefined
    return reason === undefined ? undefined : { reason, retryAfterSeconds: undefined }
  }

  return {
    get unavailable() {
      return unavailable()
    },
    async untilAvailable(signal) {
      while (unavailable() !== undefined) await delay(INSTALLED_POLL_MS, undefined, { signal, ref: false })
    },
    priorityScheduling: options.priorityScheduling,
    mmProcessorKwargs: options.mmProcessorKwargs,
    loraRankMax: options.loraRankMax,
    findBaseModel: options.findBaseModel,
    trainer: trainers.get,
    inference: inferences.get,
    statuses: () => [...trainers.statuses(), ...inferences.statuses()],
    memory: () => sumOf([...new Set([inferenceBudget, trainerBudget])].map((budget) => budget.memory())),

    async [Symbol.asyncDispose]() {
      await Promise.all([trainers[Symbol.asyncDispose](), inferences[Symbol.asyncDispose]()])
    },
  }
}

function sumOf(memories: readonly EngineMemory[]): EngineMemory {
  return {
    budget_bytes: memories.reduce((sum, memory) => sum + memory.budget_bytes, 0),
    used_bytes: memories.reduce((sum, memory) => sum + memory.used_bytes, 0),
  }
}
