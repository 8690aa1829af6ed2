import { existsSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import {
  acceleratorOf,
  engineRequirementFiles,
  pythonEnvFolder,
  pythonOf,
} from '../../../scripts/python-env.mjs'
import type { EngineConfig } from '../../config.ts'
import type { Log } from '../../log.ts'
import type { ChildSpec } from './child.ts'
import { openCompute, type Programs } from './compute.ts'
import { createLogFolder, engineLogsFolder } from './log-folder.ts'
import { createMemoryNeeds } from './memory-estimate.ts'
import type { Compute } from './port.ts'

/** File names have 255 bytes at most; what makes a base model's name its own comes last. */
const FILE_NAME_CHARS_MAX = 200

const REPOSITORY_FOLDER = resolve(import.meta.dirname, '../../..')

export interface LocalComputeOptions {
  dataFolder: string
  cacheFolder: string
  engine: EngineConfig
  /** What the processes inherit. */
  environment: NodeJS.ProcessEnv
}

/** Computes in child processes of this server, except where an inference server elsewhere is named. */
export function openLocalCompute(options: LocalComputeOptions, log: Log): Compute {
  const { engine, environment } = options
  const accelerator = acceleratorOf(environment['PATH'] ?? '')
  const needs = createMemoryNeeds({ ...engine, accelerator, environment })
  return openCompute({
    log,
    loraRankMax: engine.loraRankMax,
    priorityScheduling: engine.priorityScheduling,
    maxNumSeqs: engine.maxNumSeqs,
    defaultBaseModel: engine.baseModel,
    programs: createPrograms(options),
    memory: {
      budgetBytes: needs.budgetBytes,
      trainerBytes: (baseModel) => needs.trainerBytes(locationOf(baseModel)),
      inferenceBytes: (baseModel) => needs.inferenceBytes(locationOf(baseModel)),
    },
    idleMs: engine.idleMinutes * 60_000,
    stallMs: engine.stallSeconds * 1000,
    remote: engine.vllm,
  })
}

/** The engine's Python programs with the settings as flags. */
function createPrograms(options: LocalComputeOptions): Programs {
  const { engine } = options
  const python = findPython(options)
  const logs = createLogFolder(engineLogsFolder(options.dataFolder))

  function spec(kind: 'trainer' | 'inference', baseModel: string, args: string[]): ChildSpec {
    return {
      command: typeof python === 'string' ? python : '',
      args,
      env: {
        ...options.environment,
        PYTHONPATH: join(REPOSITORY_FOLDER, 'engine/src'),
        PYTHONUNBUFFERED: '1',
      },
      cwd: REPOSITORY_FOLDER,
      logs,
      logName: `${kind}-${fileNameOf(baseModel)}.log`,
      stdout: kind === 'trainer' ? 'lines' : 'log',
    }
  }

  return {
    missing: typeof python === 'string' ? undefined : python.missing,
    trainer(baseModel) {
      const args = ['-m', 'engine.main', '--base-model', locationOf(baseModel), '--base-model-id', baseModel]
      return spec('trainer', baseModel, args)
    },
    inference(baseModel, port) {
      const of = ['--model', locationOf(baseModel), '--served-model-name', baseModel, '--port', String(port)]
      return spec('inference', baseModel, ['-m', 'engine.serve', ...of, ...serveFlags(engine)])
    },
  }
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
    '--tensor-parallel': engine.tensorParallel,
    '--tool-parser': engine.toolParser,
    '--reasoning-parser': engine.reasoningParser,
  }
  const flags = Object.entries(values).flatMap(([flag, value]) =>
    value === undefined ? [] : [flag, String(value)],
  )
  return engine.priorityScheduling ? [...flags, '--priority-scheduling'] : flags
}

/** A base model is one that ships with this repository, a local folder, or a Hugging Face id. */
function locationOf(baseModel: string): string {
  const path = baseModel.startsWith('heddle/') ? join('engine/models', basename(baseModel)) : baseModel
  const folder = resolve(REPOSITORY_FOLDER, path)
  return existsSync(folder) ? folder : baseModel
}

/** The Python with the engine's packages. @throws Error that says how to get one. */
export function enginePython(
  options: Pick<LocalComputeOptions, 'engine' | 'cacheFolder' | 'environment'>,
): string {
  const python = findPython(options)
  if (typeof python === 'string') return python
  throw new Error(python.missing)
}

function findPython({
  engine,
  cacheFolder,
  environment,
}: Pick<LocalComputeOptions, 'engine' | 'cacheFolder' | 'environment'>): string | { missing: string } {
  if (engine.python !== undefined) {
    if (existsSync(engine.python)) return engine.python
    return { missing: `HEDDLE_ENGINE_PYTHON names ${engine.python}, which does not exist` }
  }
  const missing =
    'The engine is not installed, so there is no training and no inference; "npm run setup" installs it'
  const files = engineRequirementFiles(REPOSITORY_FOLDER, environment['PATH'] ?? '')
  if (!files.every((file) => existsSync(file))) return { missing }
  return pythonOf(pythonEnvFolder(cacheFolder, 'engine', files)) ?? { missing }
}

function fileNameOf(id: string): string {
  return id.replaceAll(/[^A-Za-z0-9._-]+/g, '-').slice(-FILE_NAME_CHARS_MAX)
}
