import type { Log } from '../../log.ts'
import type { ChildSpec } from './child.ts'
import type { MemoryNeeds } from './memory-estimate.ts'
import { createParts } from './parts.ts'
import { type Compute, type Inference, PartLost, type Trainer } from './port.ts'
import { createRemoteVllm } from './remote-vllm.ts'
import { createTrainer } from './trainer.ts'
import { createVllm } from './vllm.ts'

/** Base models that are remembered, running or not: more come from mistyped names than from use. */
const BASE_MODELS_MAX = 64

export interface ComputeOptions {
  log: Log
  loraRankMax: number
  priorityScheduling: boolean
  maxNumSeqs: number
  /** Served from the start, and stopped last. */
  defaultBaseModel: string
  programs: Programs
  memory: MemoryNeeds
  /** A part that nobody has used for this long is stopped; 0 for never. */
  idleMs: number
  /** An engine that is silent for this long hangs. */
  stallMs: number
  /** Serves the default base model in place of a process of this machine. */
  remote: RemoteOptions | undefined
}

/** What computes for a base model on this machine. */
export interface Programs {
  /** Why there are none, and what to do about it; undefined when there are. */
  missing: string | undefined
  trainer(baseModel: string): ChildSpec
  inference(baseModel: string, port: number): ChildSpec
}

export interface RemoteOptions {
  url: string
  workers: readonly string[]
  key: string | undefined
}

type Part<Kind> = Kind & AsyncDisposable

/** The parts of each base model, made when first asked for. */
export function openCompute(options: ComputeOptions): Compute {
  const { log, programs, memory, stallMs, remote } = options
  const parts = createParts({ budgetBytes: memory.budgetBytes, idleMs: options.idleMs })
  const trainers = new Map<string, Part<Trainer>>()
  const inferences = new Map<string, Part<Inference>>()

  function shared(kind: string, baseModel: string) {
    const rank = baseModel === options.defaultBaseModel ? ('keep' as const) : ('stop-when-idle' as const)
    return { name: `${kind} ${baseModel}`, log, parts, rank, stallMs }
  }

  function newTrainer(baseModel: string): Part<Trainer> {
    if (programs.missing !== undefined) throw new PartLost(programs.missing)
    const memoryBytes = () => memory.trainerBytes(baseModel)
    return createTrainer({ ...shared('trainer', baseModel), memoryBytes, spec: programs.trainer(baseModel) })
  }

  function newInference(baseModel: string): Part<Inference> {
    const common = { ...shared('inference', baseModel), servedModel: baseModel }
    if (remote !== undefined && baseModel === options.defaultBaseModel) {
      return createRemoteVllm({ ...common, ...remote })
    }
    if (programs.missing !== undefined) throw new PartLost(programs.missing)
    const memoryBytes = () => memory.inferenceBytes(baseModel)
    return createVllm({ ...common, memoryBytes, spec: (port) => programs.inference(baseModel, port) })
  }

  return {
    unavailable: remote === undefined ? programs.missing : undefined,
    priorityScheduling: options.priorityScheduling,
    maxNumSeqs: options.maxNumSeqs,
    loraRankMax: options.loraRankMax,
    trainer: (baseModel) => madeOnce(trainers, baseModel, newTrainer),
    inference: (baseModel) => madeOnce(inferences, baseModel, newInference),
    statuses: () => [...trainers.values(), ...inferences.values()].map((part) => part.status()),
    memory: parts.memory,

    async [Symbol.asyncDispose]() {
      const all = [...trainers.values(), ...inferences.values()]
      await Promise.all(all.map((part) => part[Symbol.asyncDispose]()))
    },
  }
}

function madeOnce<Kind>(
  known: Map<string, Kind>,
  baseModel: string,
  make: (baseModel: string) => Kind,
): Kind {
  const found = known.get(baseModel)
  if (found !== undefined) return found
  if (known.size >= BASE_MODELS_MAX) {
    throw new PartLost(
      `This server was asked for ${BASE_MODELS_MAX} base models; it forgets them when it starts`,
    )
  }
  const made = make(baseModel)
  known.set(baseModel, made)
  return made
}
