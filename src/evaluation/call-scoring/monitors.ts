import { z } from 'zod'
import type { JobQueue } from '../../jobs/job-queue.ts'
import type { Peers } from '../../stores/control-db/peers.ts'
import type { Calls } from '../../trace/calls/service.ts'
import type { OnEnded } from '../../trace/calls/write/writer.ts'
import type { ActiveMonitor } from './active-monitors.ts'
import { createCallMatching, type MatchingDeps } from './call-matching.ts'
import type { MonitorsOfProjects } from './monitors-of-projects.ts'
import { createNotedCalls, type NotedCalls, type NotedProject } from './noted-calls.ts'
import { tasksPerCall } from './wanted-tasks.ts'

/** Tasks that one pass adds, in one transaction, unless a single call has more. */
const TASKS_PER_PASS = 10_000

/** After an error of a store, retried for about an hour and a half; the next call of the project starts again. */
const ATTEMPTS_MAX = 12

export interface MonitorsDeps extends MatchingDeps {
  calls: Pick<Calls, 'list' | 'watchEnds'>
  monitorsOf: MonitorsOfProjects
  jobQueue: JobQueue
  peers: Peers
}

/**
 * Applies scorers to new calls as the monitors of their project define. A call is noted before its end is written, so
 * that none is missed whenever the server ends; it is scored once, however often its end comes.
 */
export interface Monitors {
  /** Starts noting calls. */
  start(): Promise<void>
}

export function createMonitors(deps: MonitorsDeps): Monitors {
  const { control, calls, jobQueue, peers, log } = deps
  const matchCalls = createCallMatching(deps)
  const noted: NotedCalls = createNotedCalls({ control, log, jobs: () => jobs })
  const jobs = jobQueue.define<NotedProject>({
    kind: 'match_monitors',
    payload: z.object({ project_id: z.string() }),
    concurrency: 1,
    attemptsMax: ATTEMPTS_MAX,
    keeps: 'failures',
    order: 'groups-in-turn',
    async handle({ payload: { project_id } }, { signal }) {
      // One pass, so that the other projects have theirs before the rest of this one, whose calls may end without
      // pause.
      await matchSome(project_id, signal)
      await noted.lookAgain(project_id)
    },
    async giveUp({ payload: { project_id } }, { reason }) {
      log.error({ project: project_id, reason }, 'calls were not shown to monitors')
    },
  })

  async function activeIn(projectId: string): Promise<ActiveMonitor[]> {
    return (await deps.monitorsOf(projectId)).flatMap(({ runs }) => runs ?? [])
  }

  const note: OnEnded = async (ended) => {
    const wanted: { project_id: string; call_id: string }[] = []
    for (const [project_id, own] of Map.groupBy(ended, (call) => call.project_id)) {
      if ((await activeIn(project_id)).length === 0) continue
      for (const call_id of new Set(own.map(({ id }) => id))) wanted.push({ project_id, call_id })
    }
    return wanted.length === 0 ? () => undefined : noted.note(wanted)
  }

  /** Shows some noted calls to the monitors of their project. */
  async function matchSome(project_id: string, signal: AbortSignal): Promise<void> {
    const monitors = await activeIn(project_id)
    const perCall = Math.max(1, tasksPerCall(monitors))
    const notes = await noted.written(project_id, Math.max(1, Math.floor(TASKS_PER_PASS / perCall)))
    if (notes.length > 0) await matchCalls({ project_id, notes, monitors }, signal)
  }

  return {
    async start() {
      if (!peers.arePossible) await noted.endPendingWrites()
      calls.watchEnds(note)
    },
  }
}
