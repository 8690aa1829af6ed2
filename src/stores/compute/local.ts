import { existsSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import type { EngineConfig } from '../../config.ts'
import type { Log } from '../../log.ts'
import type { WorkspaceBucket } from '../../workspace-setting.ts'
import type { ChildSpec } from '../processes/child.ts'
import { createLogFolder, engineLogsFolder } from '../processes/log-folder.ts'
import { openCompute, type Programs } from './compute.ts'
import { createBaseModelFinder, ownModelsFolder } from './find-base-model.ts'
import { createMemoryNeeds } from './memory-estimate.ts'
import type { Compute } from './port.ts'
import { acceleratorOf, engineRequirementFiles, pythonEnvFolder, pythonOf } from './python-environment.ts'

/** File names have 255 bytes at most; the distinctive part of a base model's name comes last. */
const FILE_NAME_CHARS_MAX = 200

/** In the engine's folder: what was copied from a bucket. */
const COPIES = 'copies'

const REPOSITORY_FOLDER = resolve(import.meta.dirname, '../../..')

export interface LocalComputeOptions {
  dataFolder: string
  cacheFolder: string
  engine: EngineConfig
  workspaceBucket?: WorkspaceBucket | undefined
  /** The environment that the processes inherit. */
  environment: NodeJS.ProcessEnv
}

/** Compute in child processes of this server, except where a remote inference server is configured. */
export function openLocalCompute(options: LocalComputeOptions, log: Log): Compute {
  const { engine, environment } = options
  const accelerator = acceleratorOf(environment['PATH'] ?? '')
  const needs = createMemoryNeeds({ ...engine, accelerator, environment })
  return openCompute({
    log,
    loraRankMax: engine.loraRankMax,
    priorityScheduling: engine.priorityScheduling,
    mmProcessorKwargs: engine.mmProcessorKwargs,
    maxNumSeqs: engine.maxNumSeqs,
    defaultBaseModel: engine.baseModel,
    findBaseModel: createBaseModelFinder({
      ownModels: ownModelsFolder(REPOSITORY_FOLDER),
      configured: [engine.baseModel, ...engine.baseModels],
      environment,
    }),
    programs: createPrograms(options),
    memory: {
      budgetBytes: needs.budgetBytes,
      trainersApart: needs.trainersApart,
      trainerBytes: (baseModel) => needs.trainerBytes(locationOf(baseModel)),
      inferenceBytes: (baseModel) => needs.inferenceBytes(locationOf(baseModel)),
      measure: (baseModel) => needs.measure(locationOf(baseModel)),
    },
    idleMs: engine.idleMinutes * 60_000,
    stallMs: engine.stallSeconds * 1000,
    workspaceRoot: options.workspaceBucket?.url ?? engine.folder,
    trainersFolder: engine.folder,
    remote: engine.vllm,
  })
}

/** The engine's Python programs with the settings as flags. */
export function createPrograms(options: LocalComputeOptions): Programs {
  const { engine, workspaceBucket } = options
  const python = createPythonFinder(options)
  const logs = createLogFolder(engineLogsFolder(options.dataFolder))

  function spec(kind: 'trainer' | 'inference', baseModel: string, args: string[]): ChildSpec {
    return {
      command: python() ?? '',
      args,
      env: {
        ...options.environment,
        ...workspaceBucket?.environment,
        ...onlyOn(kind === 'trainer' ? engine.gpus.training : engine.gpus.serving),
        PYTHONPATH: join(REPOSITORY_FOLDER, 'engine/src'),
        PYTHONUNBUFFERED: '1',
        // A trainer runs among uploaded files.
        ...(kind === 'trainer' && { PYTHONSAFEPATH: '1' }),
      },
      cwd: REPOSITORY_FOLDER,
      logs,
      logName: `${kind}-${fileNameOf(baseModel)}.log`,
      stdout: kind === 'trainer' ? 'lines' : 'log',
    }
  }

  return {
    get missing() {
      return python() === undefined ? missingReason(options) : undefined
    },
    trainer(baseModel) {
      const args = [
        '-m',
        'engine.main',
        `--base-model=${locationOf(baseModel)}`,
        `--base-model-id=${baseModel}`,
        `--metric-passes=${engine.metricPasses}`,
        `--gradient-checkpointing=${engine.gradientCheckpointing}`,
        `--processes=${Math.max(1, engine.gpus.training.length)}`,
        ...workspaceFlags(options),
      ]
      return spec('trainer', baseModel, args)
    },
    inference(baseModel, port, key) {
      const names = [`--model=${locationOf(baseModel)}`, `--served-model-name=${baseModel}`]
      const own = ['--port', String(port), ...workspaceFlags(options)]
      const args = ['-m', 'engine.serve', ...names, ...own, ...serveFlags(engine)]
      const inference = spec('inference', baseModel, args)
      // Not an argument: every user of the machine can list those.
      return { ...inference, env: { ...inference.env, VLLM_API_KEY: key } }
    },
  }
}

/** A process that sees these GPUs alone, whatever this server sees; all that it inherits where none are named. */
function onlyOn(gpus: readonly number[]): NodeJS.ProcessEnv {
  if (gpus.length === 0) return {}
  // CUDA's own order is by speed, that of nvidia-smi by slot.
  return { CUDA_DEVICE_ORDER: 'PCI_BUS_ID', CUDA_VISIBLE_DEVICES: gpus.join(',') }
}

/** Nothing where engines have the root of the workspace as they have any folder. */
function workspaceFlags({ engine, workspaceBucket }: LocalComputeOptions): string[] {
  if (workspaceBucket === undefined) return []
  return [`--workspace=${workspaceBucket.url}`, `--workspace-copies=${join(engine.folder, COPIES)}`]
}

function serveFlags(engine: EngineConfig): string[] {
  const values = {
    '--max-lora-rank': engine.loraRankMax,
    '--max-loras': engine.maxLoras,
    '--max-num-seqs': engine.maxNumSeqs,
    '--max-model-len': engine.maxModelLen,
    '--gpu-memory': engine.gpuMemory,
    '--kv-cache-gb': engine.kvCacheGb,
    '--threads': engine.threads,
    '--tensor-parallel': Math.max(1, engine.gpus.serving.length),
    '--tool-parser': engine.toolParser,
    '--reasoning-parser': engine.reasoningParser,
  }
  const flags = Object.entries(values).flatMap(([flag, value]) =>
    value === undefined ? [] : [flag, String(value)],
  )
  return [
    ...flags,
    ...(engine.priorityScheduling ? ['--priority-scheduling'] : []),
    ...(engine.mmProcessorKwargs ? ['--trust-mm-kwargs'] : []),
    ...(engine.vllmFlags.length > 0 ? ['--', ...engine.vllmFlags] : []),
  ]
}

/** A base model is one that ships with this repository, a local folder, or a Hugging Face id. */
function locationOf(baseModel: string): string {
  const folder = baseModel.startsWith('heddle/')
    ? join(ownModelsFolder(REPOSITORY_FOLDER), basename(baseModel))
    : resolve(REPOSITORY_FOLDER, baseModel)
  return existsSync(folder) ? folder : baseModel
}

type PythonOptions = Pick<LocalComputeOptions, 'engine' | 'cacheFolder' | 'environment'>

/** Finds the Python with the engine's packages, which may be installed while the server runs. */
export function createPythonFinder(options: PythonOptions): () => string | undefined {
  const { engine } = options
  let folder: string | undefined
  let found: string | undefined
  function find(): string | undefined {
    if (engine.python !== undefined) return existsSync(engine.python) ? resolve(engine.python) : undefined
    // The name is a hash of files that do not change while the server runs.
    folder ??= environmentFolder(options)
    return folder === undefined ? undefined : pythonOf(folder)
  }
  return () => {
    found ??= find()
    return found
  }
}

function environmentFolder({ cacheFolder, environment }: PythonOptions): string | undefined {
  const files = engineRequirementFiles(REPOSITORY_FOLDER, environment['PATH'] ?? '')
  return files.every((file) => existsSync(file)) ? pythonEnvFolder(cacheFolder, 'engine', files) : undefined
}

/** Why there is no Python with the engine's packages, and what to do about it. */
function missingReason({ engine }: Pick<PythonOptions, 'engine'>): string {
  return engine.python === undefined
    ? 'The engine is not installed, so there is no training and no inference; "npm run setup" installs it'
    : `HEDDLE_ENGINE_PYTHON names ${engine.python}, which does not exist`
}

function fileNameOf(id: string): string {
  return id.replaceAll(/[^A-Za-z0-9._-]+/g, '-').slice(-FILE_NAME_CHARS_MAX)
}
