import { existsSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import {
  acceleratorOf,
  engineRequirementFiles,
  pythonEnvFolder,
  pythonOf,
} from '../../../scripts/python-env.mjs'
import type { Log } from '../../log.ts'
import type { ChildSpec } from './child.ts'
import { type Compute, type Inference, PartLost, type Trainer } from './port.ts'
import { createTrainer } from './trainer.ts'
import { createVllm } from './vllm.ts'

const REPOSITORY_FOLDER = resolve(import.meta.dirname, '../../..')

/** Every base model costs two processes with the whole model in memory. */
const BASE_MODELS_MAX = 4

export interface LocalComputeOptions {
  dataFolder: string
  cacheFolder: string
  enginePython: string | undefined
  stallSeconds: number
  loraRankMax: number
  /** What the processes inherit. */
  environment: NodeJS.ProcessEnv
}

/** Computes in child processes of this server. */
export function openLocalCompute(options: LocalComputeOptions, log: Log): Compute {
  const accelerator = acceleratorOf(options.environment['PATH'] ?? '')
  const python = findPython(options)
  const trainers = new Map<string, Trainer & AsyncDisposable>()
  const inferences = new Map<string, Inference & AsyncDisposable>()
  const stallMs = options.stallSeconds * 1000

  function specOf(kind: string, baseModel: string, args: string[]): ChildSpec {
    if (typeof python !== 'string') throw new PartLost(python.missing)
    if (!trainers.has(baseModel) && trainers.size >= BASE_MODELS_MAX) {
      throw new PartLost(`This server computes for at most ${BASE_MODELS_MAX} base models at a time`)
    }
    return {
      command: python,
      args,
      env: {
        ...options.environment,
        PYTHONPATH: join(REPOSITORY_FOLDER, 'engine/src'),
        PYTHONUNBUFFERED: '1',
      },
      cwd: REPOSITORY_FOLDER,
      logPath: join(options.dataFolder, 'engine/logs', `${kind}-${fileNameOf(baseModel)}.log`),
      stdout: kind === 'trainer' ? 'lines' : 'log',
    }
  }

  return {
    unavailable: typeof python === 'string' ? undefined : python.missing,
    accelerator,
    loraRankMax: options.loraRankMax,

    trainer(baseModel) {
      const found = trainers.get(baseModel)
      if (found !== undefined) return found
      const args = ['-m', 'engine.main', '--base-model', locationOf(baseModel), '--base-model-id', baseModel]
      const started = createTrainer({
        name: `trainer ${baseModel}`,
        log,
        spec: specOf('trainer', baseModel, args),
        stallMs,
      })
      trainers.set(baseModel, started)
      return started
    },

    inference(baseModel) {
      const found = inferences.get(baseModel)
      if (found !== undefined) return found
      const args = ['-m', 'engine.serve', '--model', locationOf(baseModel), '--served-model-name', baseModel]
      args.push('--max-lora-rank', String(options.loraRankMax))
      const spec = specOf('inference', baseModel, args)
      const started = createVllm({
        name: `inference ${baseModel}`,
        log,
        spec: (port) => ({ ...spec, args: [...spec.args, '--port', String(port)] }),
        servedModel: baseModel,
        stallMs,
      })
      inferences.set(baseModel, started)
      return started
    },

    statuses: () => [...trainers.values(), ...inferences.values()].map((part) => part.status()),

    async [Symbol.asyncDispose]() {
      const parts = [...trainers.values(), ...inferences.values()]
      await Promise.all(parts.map((part) => part[Symbol.asyncDispose]()))
    },
  }
}

/** A base model is one that ships with this repository, a local folder, or a Hugging Face id. */
function locationOf(baseModel: string): string {
  const shipped = join(REPOSITORY_FOLDER, 'engine/models', basename(baseModel))
  return baseModel.startsWith('heddle/') && existsSync(shipped) ? shipped : baseModel
}

function findPython(options: LocalComputeOptions): string | { missing: string } {
  if (options.enginePython !== undefined) {
    if (existsSync(options.enginePython)) return options.enginePython
    return { missing: `HEDDLE_ENGINE_PYTHON names ${options.enginePython}, which does not exist` }
  }
  const missing =
    'The engine is not installed, so there is no training and no inference; "npm run setup" installs it'
  const files = engineRequirementFiles(REPOSITORY_FOLDER, options.environment['PATH'] ?? '')
  if (!files.every((file) => existsSync(file))) return { missing }
  return pythonOf(pythonEnvFolder(options.cacheFolder, 'engine', files)) ?? { missing }
}

function fileNameOf(id: string): string {
  return id.replaceAll(/[^A-Za-z0-9._-]+/g, '-')
}
