import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Log } from '../../log.ts'
import { NO_TELEMETRY, type Telemetry } from '../../telemetry.ts'
import type { ChildSpec } from '../processes/child.ts'
import { createLogFolder, engineLogsFolder } from '../processes/log-folder.ts'
import type { WorkspaceBucket } from '../workspace/bucket-address.ts'
import { locationOf } from './base-model-location.ts'
import { type ChildSpecs, childPrograms } from './child-programs.ts'
import { openCompute } from './compute.ts'
import { computeSettings, REPOSITORY_FOLDER } from './compute-settings.ts'
import { serverArgs, trainerArgs, type WorkspaceElsewhere } from './engine-args.ts'
import type { EngineConfig } from './engine-settings.ts'
import { createMemoryNeeds, GB } from './memory-estimate.ts'
import type { Compute } from './port.ts'
import { acceleratorOf, engineRequirementFiles, pythonEnvFolder, pythonOf } from './python-environment.ts'

/** File names have 255 bytes at most; the distinctive part of a base model's name comes last. */
const FILE_NAME_CHARS_MAX = 200

/** Assumed of a process that sleeps: its CUDA context, graphs and buffers stay on the GPU. */
const SLEEPING_GB = 2

/** In the engine's folder: what was copied from a bucket. */
const COPIES = 'copies'

export interface LocalComputeOptions {
  dataFolder: string
  cacheFolder: string
  engine: EngineConfig
  workspaceBucket?: WorkspaceBucket | undefined
  /** The environment that the processes inherit. */
  environment: NodeJS.ProcessEnv
}

/** Compute in child processes of this server, except where a remote inference server is configured. */
export function openLocalCompute(
  options: LocalComputeOptions,
  log: Log,
  telemetry: Telemetry = NO_TELEMETRY,
): Compute {
  const { engine, environment } = options
  const accelerator = acceleratorOf(environment['PATH'] ?? '')
  const needs = createMemoryNeeds({ ...engine, accelerator, environment }, log)
  if (engine.sleeps && accelerator === 'cpu')
    throw new Error('HEDDLE_GPU_SLEEP: this machine has no NVIDIA driver, and on a CPU sleep frees nothing')
  return openCompute({
    log,
    telemetry,
    ...computeSettings(engine, environment),
    programs: childPrograms(createChildSpecs(options), engine.folder),
    memory: {
      budgetBytes: needs.budgetBytes,
      trainersApart: needs.trainersApart,
      trainerBytes: (baseModel) => needs.trainerBytes(locationOf(baseModel)),
      inferenceBytes: (baseModel) => needs.inferenceBytes(locationOf(baseModel)),
      reserveAsleep: (kind, baseModel) => needs.reserveAsleep(kind, locationOf(baseModel)),
      measure: (baseModel) => needs.measure(locationOf(baseModel)),
    },
    workspaceRoot: options.workspaceBucket?.url ?? engine.folder,
    sleepingBytes: engine.sleeps ? SLEEPING_GB * GB : undefined,
  })
}

/** The engine's Python programs with the settings as flags. */
export function createChildSpecs(options: LocalComputeOptions): ChildSpecs {
  const { engine } = options
  const workspace = workspaceOf(options)
  const python = createPythonFinder(options)
  const logs = createLogFolder(engineLogsFolder(options.dataFolder))

  function spec(kind: 'trainer' | 'inference', baseModel: string, args: string[]): ChildSpec {
    return {
      command: python() ?? '',
      args,
      env: {
        ...options.environment,
        ...options.workspaceBucket?.environment,
        ...onlyOn(kind === 'trainer' ? engine.gpus.training : engine.gpus.serving),
        PYTHONPATH: join(REPOSITORY_FOLDER, 'engine/src'),
        PYTHONUNBUFFERED: '1',
        // Where the variable is set, as images of Python do, vLLM compiles thousands of modules at each start: 5 s.
        PYTHONDONTWRITEBYTECODE: '',
        // A trainer runs among uploaded files.
        ...(kind === 'trainer' && { PYTHONSAFEPATH: '1' }),
      },
      cwd: REPOSITORY_FOLDER,
      logs,
      logName: logNameOf(kind, baseModel),
      stdout: kind === 'trainer' ? 'lines' : 'log',
    }
  }

  return {
    get missing() {
      return python() === undefined ? missingReason(options) : undefined
    },
    trainer(baseModel) {
      const args = trainerArgs(engine, {
        baseModel,
        workspace,
        location: locationOf(baseModel),
        processes: engine.gpus.training.length,
      })
      return spec('trainer', baseModel, args)
    },
    inference(baseModel, port, key) {
      const args = serverArgs(engine, {
        baseModel,
        workspace,
        location: locationOf(baseModel),
        host: '127.0.0.1',
        port,
        gpus: engine.gpus.serving.length,
      })
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

/** Undefined where engines have the root of the workspace as they have any folder. */
function workspaceOf({ engine, workspaceBucket }: LocalComputeOptions): WorkspaceElsewhere | undefined {
  return workspaceBucket && { url: workspaceBucket.url, copies: join(engine.folder, COPIES) }
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

/** The name of the log of an engine process. */
export function logNameOf(kind: 'trainer' | 'inference', baseModel: string): string {
  return `${kind}-${baseModel.replaceAll(/[^A-Za-z0-9._-]+/g, '-').slice(-FILE_NAME_CHARS_MAX)}.log`
}
