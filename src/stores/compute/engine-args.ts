import type { EngineConfig } from './engine-settings.ts'

/** A workspace in a bucket, and where its reader keeps copies of it. */
export interface WorkspaceElsewhere {
  url: string
  /** By default a folder of its user's cache. */
  copies?: string
}

/** What a trainer is started with, beside the settings. */
interface TrainerPlace {
  baseModel: string
  /** Where it finds the weights: a folder, or an id of the hub. */
  location: string
  /** Undefined where the workspace is a folder. */
  workspace: WorkspaceElsewhere | undefined
  /** Each on a GPU of its own; 0 for one process on what there is. */
  processes: number
}

/** What an inference server is started with, beside the settings. */
interface ServerPlace {
  baseModel: string
  location: string
  workspace: WorkspaceElsewhere | undefined
  host: string
  port: number
  /** On which it computes together; 0 for what there is. */
  gpus: number
}

/** The settings that these programs read. */
export type ProgramSettings = Omit<EngineConfig, 'threads'> & { threads: number | undefined }

/** What follows `python` to start a trainer. */
export function trainerArgs(engine: ProgramSettings, place: TrainerPlace): string[] {
  return [
    '-m',
    'engine.main',
    `--base-model=${place.location}`,
    `--base-model-id=${place.baseModel}`,
    `--base-quantization=${engine.baseQuantization}`,
    `--metric-passes=${engine.metricPasses}`,
    `--gradient-checkpointing=${engine.gradientCheckpointing}`,
    `--processes=${Math.max(1, place.processes)}`,
    ...(engine.maxModelLen === undefined ? [] : [`--max-model-len=${engine.maxModelLen}`]),
    ...workspaceArgs(place),
  ]
}

/** What follows `python` to start an inference server, but for its key. */
export function serverArgs(engine: ProgramSettings, place: ServerPlace): string[] {
  return [
    '-m',
    'engine.serve',
    `--model=${place.location}`,
    `--served-model-name=${place.baseModel}`,
    ...['--host', place.host, '--port', String(place.port)],
    `--base-quantization=${engine.baseQuantization}`,
    ...['--tensor-parallel', String(Math.max(1, place.gpus))],
    ...workspaceArgs(place),
    ...flagsOf(engine),
  ]
}

function workspaceArgs({ workspace }: Pick<TrainerPlace, 'workspace'>): string[] {
  if (workspace === undefined) return []
  const { url, copies } = workspace
  return [`--workspace=${url}`, ...(copies === undefined ? [] : [`--workspace-copies=${copies}`])]
}

function flagsOf(engine: ProgramSettings): string[] {
  const values = {
    '--max-lora-rank': engine.loraRankMax,
    '--max-loras': engine.maxLoras,
    '--max-num-seqs': engine.maxNumSeqs,
    '--max-model-len': engine.maxModelLen,
    '--gpu-memory': engine.gpuMemory,
    '--kv-cache-gb': engine.kvCacheGb,
    '--threads': engine.threads,
    '--tool-parser': engine.toolParser,
    '--reasoning-parser': engine.reasoningParser,
  }
  const flags = Object.entries(values).flatMap(([flag, value]) =>
    value === undefined ? [] : [flag, String(value)],
  )
  return [
    ...flags,
    ...(engine.sleeps ? ['--sleep-level=1'] : []),
    ...(engine.priorityScheduling ? ['--priority-scheduling'] : []),
    ...(engine.mmProcessorKwargs ? ['--trust-mm-kwargs'] : []),
    ...(engine.vllmFlags.length > 0 ? ['--', ...engine.vllmFlags] : []),
  ]
}
