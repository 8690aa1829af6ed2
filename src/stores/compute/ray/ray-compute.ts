import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Log } from '../../../log.ts'
import { NO_TELEMETRY, type Telemetry } from '../../../telemetry.ts'
import { createLogFolder, engineLogsFolder } from '../../processes/log-folder.ts'
import type { WorkspaceBucket } from '../../workspace/bucket-address.ts'
import { markerOf } from '../../workspace/marker.ts'
import { openCompute } from '../compute.ts'
import { computeSettings, ENGINE_FOLDER } from '../compute-settings.ts'
import { serverArgs, trainerArgs } from '../engine-args.ts'
import type { EngineConfig } from '../engine-settings.ts'
import type { Compute } from '../port.ts'
import type { Programs } from '../program.ts'
import type { NodePlace } from './connection.ts'
import { packEngine } from './engine-package.ts'
import type { RaySetting } from './jobs-api.ts'
import { createRayJobs } from './jobs-api.ts'
import { createNodeRunner, type NodeRunner } from './node-runner.ts'
import { createOwnJobs } from './own-jobs.ts'

export interface RayComputeOptions {
  dataFolder: string
  engine: EngineConfig
  ray: RaySetting
  /** Where folders are exchanged through a bucket. */
  workspaceBucket?: WorkspaceBucket | undefined
  /** The environment in which base models are looked for. */
  environment: NodeJS.ProcessEnv
}

/**
 * Compute in jobs of a Ray cluster, one for each engine process; an inference server elsewhere where one is configured.
 */
export function openRayCompute(
  options: RayComputeOptions,
  log: Log,
  telemetry: Telemetry = NO_TELEMETRY,
): Compute {
  const { engine, ray, environment, workspaceBucket } = options
  const folder = ray.workspace ?? engine.folder
  const jobs = createRayJobs(ray.url, ray.token)
  const runner = createNodeRunner({
    jobs,
    ownJobs: createOwnJobs(jobs, { dataFolder: options.dataFolder, log }),
    enginePackage: () => packEngine(ENGINE_FOLDER),
    python: ray.python,
    workspace: workspaceBucket === undefined ? { folder, marker: markerOf(engine.folder) } : 'elsewhere',
    logs: createLogFolder(engineLogsFolder(options.dataFolder)),
    log,
  })
  const compute = openCompute({
    log,
    telemetry,
    ...computeSettings(engine, environment),
    programs: createRayPrograms(options, runner),
    memory: UNLIMITED,
    workspaceRoot: workspaceBucket?.url ?? folder,
  })
  return {
    ...compute,
    // A getter, which a copy would ask once.
    unavailable: undefined,
    async [Symbol.asyncDispose]() {
      await compute[Symbol.asyncDispose]()
      await jobs[Symbol.asyncDispose]()
    },
  }
}

/** Ray shares out the memory of its nodes. */
const UNLIMITED = {
  budgetBytes: 0,
  trainersApart: false,
  trainerBytes: () => 0,
  inferenceBytes: () => 0,
  reserveAsleep: () => undefined,
  measure: async () => {},
}

function createRayPrograms(
  { engine, ray, workspaceBucket }: Pick<RayComputeOptions, 'engine' | 'ray' | 'workspaceBucket'>,
  run: NodeRunner,
): Programs {
  const workspace = workspaceBucket && { url: workspaceBucket.url }
  const bucketEnv = placeOf(workspaceBucket)
  return {
    missing: undefined,
    trainer(baseModel) {
      const needs = ray.trainer(baseModel)
      const processes = Math.floor(needs.gpus)
      const args = (place: NodePlace) =>
        trainerArgs(engine, { baseModel, location: locationOf(baseModel, place), workspace, processes })
      return (hooks) => run({ kind: 'trainer', baseModel, needs, args, env: bucketEnv }, hooks)
    },
    inference(baseModel, key) {
      const needs = ray.server(baseModel)
      const settings = { ...engine, threads: Math.max(1, Math.floor(needs.cpus)), gpuMemory: ray.gpuMemory }
      const args = (place: NodePlace) =>
        serverArgs(settings, {
          baseModel,
          location: locationOf(baseModel, place),
          workspace,
          host: place.host,
          port: place.port,
          gpus: Math.floor(needs.gpus),
        })
      // Not an argument: every user of the node can list those.
      const env = { ...bucketEnv, VLLM_API_KEY: key }
      return async (hooks) => {
        const { program, place } = await run({ kind: 'inference', baseModel, needs, args, env }, hooks)
        return { program, url: `http://${hostOf(place)}:${place.port}` }
      }
    },
  }
}

/** Where nodes find the bucket. Their credentials are their own. */
function placeOf(bucket: WorkspaceBucket | undefined): Record<string, string> {
  const { AWS_ENDPOINT_URL_S3: endpoint, AWS_REGION: region } = bucket?.environment ?? {}
  return {
    ...(endpoint !== undefined && { AWS_ENDPOINT_URL_S3: endpoint }),
    ...(region !== undefined && { AWS_REGION: region }),
  }
}

/** A base model is one that ships with the engine, a folder of the nodes, or a Hugging Face id. */
function locationOf(baseModel: string, place: NodePlace): string {
  const name = basename(baseModel)
  const isOwn = baseModel.startsWith('heddle/') && existsSync(join(ENGINE_FOLDER, 'models', name))
  return isOwn ? `${place.package}/models/${name}` : baseModel
}

function hostOf({ host }: NodePlace): string {
  return host.includes(':') ? `[${host}]` : host
}
