import { messageOf } from '../../../errors.ts'
import type { Log } from '../../../log.ts'
import type { LogFolder } from '../../processes/log-folder.ts'
import { logNameOf } from '../local.ts'
import type { Program, StartHooks } from '../program.ts'
import type { NodePlace } from './connection.ts'
import type { EnginePackage } from './engine-package.ts'
import type { RayJobs, RayResources } from './jobs-api.ts'
import { startOnNode } from './node-program.ts'
import { onceReachable, UNREACHABLE_MS_MAX } from './once-reachable.ts'
import type { OwnJobs } from './own-jobs.ts'
import { startJob } from './start-job.ts'

export interface NodeRunnerOptions {
  jobs: RayJobs
  ownJobs: OwnJobs
  enginePackage: () => Promise<EnginePackage>
  /** The Python with the engine's packages on the nodes. */
  python: string
  /** The root of the workspace as the nodes see it, and what its marker says; `elsewhere` where it is no folder. */
  workspace: { folder: string; marker: string } | 'elsewhere'
  logs: LogFolder
  log: Log
  /** How long the cluster may be away before a start fails, in milliseconds. */
  awayMs?: number
}

/** A program of the engine to run on a node. */
export interface NodeProgram {
  kind: 'trainer' | 'inference'
  baseModel: string
  needs: RayResources
  /** What follows `python`. */
  args: (place: NodePlace) => string[]
  env: Record<string, string>
}

/** Starts a program as a job of Ray. */
export type NodeRunner = (
  program: NodeProgram,
  hooks: StartHooks,
) => Promise<{ program: Program; place: NodePlace }>

/**
 * Also stops the jobs that this server left when it was last killed, at once or, where Ray is away, before the next
 * start.
 */
export function createNodeRunner(options: NodeRunnerOptions): NodeRunner {
  const { jobs, ownJobs, python, workspace, logs, log, awayMs = UNREACHABLE_MS_MAX } = options
  const enginePackage = once(options.enginePackage)
  ownJobs
    .clear()
    .catch((error: unknown) =>
      log.warn({ reason: messageOf(error) }, 'Ray could not be asked for jobs that were left'),
    )

  return async ({ kind, baseModel, needs, args, env }, hooks) => {
    await onceReachable(() => ownJobs.clear(), { awayMs, signal: hooks.stopping })
    const metadata = { heddle_process: `${kind} ${baseModel}` }
    const job = await startJob(
      { jobs, ownJobs, enginePackage, python, metadata, resources: needs, awayMs },
      hooks,
    )
    const { place } = job.connection
    const start = {
      args: args(place),
      // The working directory holds uploaded files.
      env: { ...env, PYTHONUNBUFFERED: '1', PYTHONSAFEPATH: '1' },
      ...(workspace === 'elsewhere' ? {} : { workspace: workspace.folder, marker: workspace.marker }),
    }
    const program = startOnNode(job.connection, start, {
      place: `Ray job ${job.id} on ${place.host}`,
      logs,
      logName: logNameOf(kind, baseModel),
      stdout: kind === 'trainer' ? 'lines' : 'log',
      whenLost: job.untilEnded,
    })
    void program.exited.then(() => ownJobs.end(job.id))
    return { program, place }
  }
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
