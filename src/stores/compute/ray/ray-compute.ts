import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import type { EngineConfig } from '../../../config.ts'
import { messageOf } from '../../../errors.ts'
import type { Log } from '../../../log.ts'
import type { RayNeeds, RaySetting } from '../../../ray-setting.ts'
import { createLogFolder, engineLogsFolder } from '../../processes/log-folder.ts'
import { openCompute } from '../compute.ts'
import { serverArgs, trainerArgs } from '../engine-args.ts'
import { createBaseModelFinder, ownModelsFolder } from '../find-base-model.ts'
import { logNameOf } from '../local.ts'
import type { Compute } from '../port.ts'
import type { Program, Programs, StartHooks } from '../program.ts'
import type { NodePlace } from './connection.ts'
import { packEngine } from './engine-package.ts'
import { createRayJobs, type RayJobs } from './jobs-api.ts'
import { SERVER_KEY, serverIdOf, stopLeftJobs } from './left-jobs.ts'
import { startOnNode } from './node-program.ts'
import { startJob } from './start-job.ts'

const ENGINE_FOLDER = resolve(import.meta.dirname, '../../../../engine')

/** In the root of the workspace, by which nodes tell it from other folders. */
const MARKER_FILE = '.heddle-workspace'

export interface RayComputeOptions {
  dataFolder: string
  engine: EngineConfig
  ray: RaySetting
  /** The environment in which base models are looked for. */
  environment: NodeJS.ProcessEnv
}

/** Compute in jobs of a Ray cluster, one for each engine process; an inference server elsewhere where one is configured. */
export function openRayCompute(options: RayComputeOptions, log: Log): Compute {
  const { engine, ray, environment } = options
  const workspaceFolder = ray.workspace ?? engine.folder
  const jobs = createRayJobs(ray.url, ray.token)
  const compute = openCompute({
    log,
    loraRankMax: engine.loraRankMax,
    priorityScheduling: engine.priorityScheduling,
    mmProcessorKwargs: engine.mmProcessorKwargs,
    maxNumSeqs: engine.maxNumSeqs,
    defaultBaseModel: engine.baseModel,
    findBaseModel: createBaseModelFinder({
      ownModels: ownModelsFolder(resolve(ENGINE_FOLDER, '..')),
      configured: [engine.baseModel, ...engine.baseModels],
      environment,
    }),
    programs: createRayPrograms(options, { jobs, workspaceFolder, log }),
    memory: UNLIMITED,
    idleMs: engine.idleMinutes * 60_000,
    stallMs: engine.stallSeconds * 1000,
    workspaceFolder,
    remote: engine.vllm,
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
  measure: async () => {},
}

interface Cluster {
  jobs: RayJobs
  /** The root of the workspace, as the nodes see it. */
  workspaceFolder: string
  log: Log
}

/** A program to start on a node. */
interface NodeProgram {
  kind: 'trainer' | 'inference'
  baseModel: string
  needs: RayNeeds
  args: (place: NodePlace) => string[]
  env: Record<string, string>
}

function createRayPrograms(options: RayComputeOptions, { jobs, workspaceFolder, log }: Cluster): Programs {
  const { engine, ray } = options
  const logs = createLogFolder(engineLogsFolder(options.dataFolder))
  const serverId = serverIdOf(options.dataFolder)
  const marker = markerOf(engine.folder)
  const enginePackage = once(() => packEngine(ENGINE_FOLDER))
  /** Jobs that were started since this server was. */
  const ofNow = new Set<string>()
  const noneLeft = once(() =>
    stopLeftJobs(jobs, { serverId, isOfNow: (id) => ofNow.has(id), log }, new AbortController().signal),
  )
  noneLeft().catch((error: unknown) =>
    log.warn({ reason: messageOf(error) }, 'Ray could not be asked for jobs that were left'),
  )

  async function run(
    { kind, baseModel, needs, args, env }: NodeProgram,
    hooks: StartHooks,
  ): Promise<{ program: Program; place: NodePlace }> {
    await noneLeft()
    const job = await startJob(
      {
        jobs,
        enginePackage,
        python: ray.python,
        metadata: { [SERVER_KEY]: serverId, heddle_process: `${kind} ${baseModel}` },
        resources: needs,
        onSubmit: (id) => ofNow.add(id),
      },
      hooks,
    )
    const { place } = job.connection
    const start = {
      args: args(place),
      // The working directory holds uploaded files.
      env: { ...env, PYTHONUNBUFFERED: '1', PYTHONSAFEPATH: '1' },
      workspace: workspaceFolder,
      marker,
    }
    const program = startOnNode(job.connection, start, {
      place: `Ray job ${job.id} on ${place.host}`,
      logs,
      logName: logNameOf(kind, baseModel),
      stdout: kind === 'trainer' ? 'lines' : 'log',
      whenLost: job.untilEnded,
    })
    return { program, place }
  }

  return {
    missing: undefined,
    trainer(baseModel) {
      const needs = ray.trainer(baseModel)
      const processes = Math.floor(needs.gpus)
      const args = (place: NodePlace) =>
        trainerArgs(engine, { baseModel, location: locationOf(baseModel, place), processes })
      return (hooks) => run({ kind: 'trainer', baseModel, needs, args, env: {} }, hooks)
    },
    inference(baseModel, key) {
      const needs = ray.server(baseModel)
      const settings = { ...engine, threads: Math.max(1, Math.floor(needs.cpus)), gpuMemory: ray.gpuMemory }
      const args = (place: NodePlace) =>
        serverArgs(settings, {
          baseModel,
          location: locationOf(baseModel, place),
          host: place.host,
          port: place.port,
          gpus: Math.floor(needs.gpus),
        })
      // Not an argument: every user of the node can list those.
      const env = { VLLM_API_KEY: key }
      return async (hooks) => {
        const { program, place } = await run({ kind: 'inference', baseModel, needs, args, env }, hooks)
        return { program, url: `http://${hostOf(place)}:${place.port}` }
      }
    },
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

/** What the marker of the workspace says; the first server that uses the folder writes it. */
function markerOf(folder: string): string {
  const path = join(folder, MARKER_FILE)
  mkdirSync(folder, { recursive: true })
  if (!existsSync(path)) writeFileSync(path, randomUUID())
  return readFileSync(path, 'utf8').trim()
}

/** Remembers a result, and no failure. */
function once<Result>(make: () => Promise<Result>): () => Promise<Result> {
  let made: Promise<Result> | undefined
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined
      throw error
    })
    return made
  }
}
