import { z } from 'zod'
import type { RayResources, RaySetting } from '../stores/compute/ray/jobs-api.ts'
import { jsonSetting, variableSettings } from './read-setting.ts'
import { readAll, refuseProblems, settingProblem } from './setting-problems.ts'

/** Where nothing else is on the GPU, what vLLM itself leaves free. */
const GPU_MEMORY_DEFAULT = 0.9

const GB = 1024 ** 3

const Amount = z.number().nonnegative()

/** A part of a GPU, or whole ones. */
const Gpus = Amount.refine((gpus) => gpus < 1 || Number.isInteger(gpus), {
  error: 'less than one, or a whole number',
})

const Needs = z.strictObject({
  cpus: z.number().positive().optional(),
  gpus: Gpus.optional(),
  memory_gb: z.number().positive().optional(),
  resources: z.record(z.string().min(1), z.number().positive()).optional(),
  labels: z.record(z.string().min(1), z.string()).optional(),
})

const NeedsOfKind = Needs.extend({ base_models: z.record(z.string().min(1), Needs).optional() })

const Variables = z.object({
  HEDDLE_RAY_URL: z.url({ protocol: /^https?$/ }).optional(),
  HEDDLE_RAY_TOKEN: z.string().min(1).optional(),
  HEDDLE_RAY_PYTHON: z.string().min(1).default('python3'),
  HEDDLE_RAY_WORKSPACE: z.string().startsWith('/', { error: 'an absolute path' }).optional(),
  HEDDLE_RAY_TRAINER: z.string().optional(),
  HEDDLE_RAY_SERVER: z.string().optional(),
  HEDDLE_GPU_MEMORY: z.coerce.number().default(GPU_MEMORY_DEFAULT),
})

const OF_RAY = [
  'HEDDLE_RAY_TOKEN',
  'HEDDLE_RAY_PYTHON',
  'HEDDLE_RAY_WORKSPACE',
  'HEDDLE_RAY_TRAINER',
  'HEDDLE_RAY_SERVER',
] as const

/** Settings of engine processes on this machine. */
const OF_THIS_MACHINE = [
  'HEDDLE_GPUS_SERVING',
  'HEDDLE_GPUS_TRAINING',
  'HEDDLE_ENGINE_MEMORY_GB',
  'HEDDLE_ENGINE_THREADS',
  'HEDDLE_GPU_SLEEP',
] as const

/** Reads where the engine's processes run; undefined for this machine. @throws Error that names a bad variable */
export function readRaySetting(env: NodeJS.ProcessEnv): RaySetting | undefined {
  const values = variableSettings(Variables, env)
  const { HEDDLE_RAY_URL: address } = values
  if (address === undefined) {
    refuseProblems(
      OF_RAY.filter((name) => env[name] !== undefined).map((name) => [name, 'needs HEDDLE_RAY_URL']),
    )
    return undefined
  }
  if (env['HEDDLE_WORKSPACE'] === 's3' && values.HEDDLE_RAY_WORKSPACE !== undefined)
    throw settingProblem(
      'HEDDLE_RAY_WORKSPACE',
      'is a folder that nodes share: HEDDLE_WORKSPACE=s3 needs none',
    )
  const given = OF_THIS_MACHINE.filter((name) => env[name] !== undefined)
  refuseProblems(
    given.map((name) => [
      name,
      'is for engines on this machine: with HEDDLE_RAY_URL, HEDDLE_RAY_TRAINER and HEDDLE_RAY_SERVER say what they get',
    ]),
  )
  return {
    ...readAll({
      url: () => plainUrl(address),
      trainer: () => readNeeds('HEDDLE_RAY_TRAINER', values.HEDDLE_RAY_TRAINER),
      server: () => readNeeds('HEDDLE_RAY_SERVER', values.HEDDLE_RAY_SERVER),
    }),
    token: values.HEDDLE_RAY_TOKEN,
    python: values.HEDDLE_RAY_PYTHON,
    workspace: values.HEDDLE_RAY_WORKSPACE?.replace(/(.)\/+$/, '$1'),
    gpuMemory: values.HEDDLE_GPU_MEMORY,
  }
}

/** @throws Error without the text, which may hold a password */
function plainUrl(text: string): string {
  const { username, password, search, hash } = new URL(text)
  if (username !== '' || password !== '')
    throw settingProblem('HEDDLE_RAY_URL', 'has a user in it: HEDDLE_RAY_TOKEN is what Ray asks for')
  if (search !== '' || hash !== '') throw settingProblem('HEDDLE_RAY_URL', 'is an address without ? and #')
  return text.replace(/\/+$/, '')
}

/** The resources of processes of one kind; those of a base model override the common ones. */
function readNeeds(name: string, setting: string | undefined): (baseModel: string) => RayResources {
  const { base_models = {}, ...common } = jsonSetting(name, setting, NeedsOfKind)
  return (baseModel) => {
    const { cpus, gpus, memory_gb, resources, labels } = { ...common, ...base_models[baseModel] }
    return {
      cpus: cpus ?? 1,
      gpus: gpus ?? 1,
      memoryBytes: memory_gb === undefined ? undefined : Math.round(memory_gb * GB),
      custom: resources ?? {},
      labels: labels ?? {},
    }
  }
}
