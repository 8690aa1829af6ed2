import { newId } from '../ids.ts'
import type { Log } from '../log.ts'
import type { Peers } from '../stores/control-db/peers.ts'
import type { ControlDb } from '../stores/control-db/port.ts'
import { NO_TELEMETRY, type Telemetry } from '../telemetry.ts'
import { type DefinedKind, defineKind } from './defined-kind.ts'
import type { JobKind } from './job-kind.ts'
import { createJobsOfKind, type JobsOfKind } from './jobs-of-kind.ts'
import { expireLeases } from './lease-queries.ts'
import { createPause } from './pause.ts'
import * as queries from './queries.ts'
import { startRetention } from './retention.ts'
import { createRunningJobs } from './running-jobs.ts'
import { startWorker } from './worker.ts'

/** A server that does not extend its leases for this long counts as ended: longer than any pause of a live process. */
const LEASE_MS = 30_000

export interface JobQueue {
  /** Declares a kind; all are declared before the start. */
  define<Payload>(kind: JobKind<Payload>): JobsOfKind<Payload>
  /**
   * Removes the jobs whose payload has one of these ids as its `project_id`. One that runs is aborted, as if its lease
   * were lost, and nothing records how it ended.
   */
  forgetProjects(projectIds: readonly string[]): Promise<void>
  /** Runs jobs until disposal, which interrupts them and gives them back. */
  start(): Promise<AsyncDisposable>
}

export interface JobQueueOptions {
  control: ControlDb
  log: Log
  /** With a single server, a start takes over the jobs of the previous one at once. */
  peers: Pick<Peers, 'arePossible' | 'send' | 'onMessage'>
  leaseMs?: number
  /** Records the attempts at jobs; none where absent. */
  telemetry?: Telemetry
}

/** Durable work: rows of one table that servers lease, run and finish (docs/decisions/0022). */
export function createJobQueue(options: JobQueueOptions): JobQueue {
  const { control, log, peers, leaseMs = LEASE_MS, telemetry = NO_TELEMETRY } = options
  const kinds = new Map<string, DefinedKind>()
  const owner = newId()
  const pause = createPause()
  const running = createRunningJobs({ control, log, telemetry, kinds, onEnded: pause.wake })
  peers.onMessage('jobs', pause.wake)

  /** Starts due jobs here, and on the servers that have room for them. */
  function wake(): void {
    pause.wake()
    peers.send('jobs', '')
  }

  return {
    define<Payload>(kind: JobKind<Payload>): JobsOfKind<Payload> {
      kinds.set(kind.kind, defineKind(kind))
      return createJobsOfKind({ control, running, peers, owner, leaseMs, wake }, kind)
    },

    async forgetProjects(projectIds) {
      for (const kind of kinds.keys())
        await queries.removeOfProjects(control, { kind, projectIds: new Set(projectIds) })
    },

    async start() {
      if (!peers.arePossible) await expireLeases(control, owner)
      await using starting = new AsyncDisposableStack()
      starting.use(startRetention({ control, log, kinds }))
      starting.use(await startWorker({ control, log, kinds, running, peers, pause, owner, leaseMs }))
      return starting.move()
    },
  }
}
