import type { ControlDb } from '../../stores/control-db/port.ts'
import type { ActiveMonitor } from './active-monitors.ts'
import { createMonitorRooms } from './monitor-room.ts'
import * as queries from './queries.ts'
import type { ScoringTasks } from './scoring-task.ts'
import type { WaitingLimits } from './waiting-scores.ts'
import { lastingReason, unstartedOf, type WantedDeps, wantedTasks } from './wanted-tasks.ts'

export interface MatchingDeps extends WantedDeps {
  control: ControlDb
  scoringTasks: ScoringTasks
  waitingScores: Pick<WaitingLimits, 'ofMonitors'>
}

/** Noted calls of one project, and the monitors that they are shown to. */
interface Pass {
  project_id: string
  notes: readonly queries.MonitoredCall[]
  monitors: readonly ActiveMonitor[]
}

/**
 * Adds the tasks that monitors define for noted calls, and removes their notes. What fails for good counts as a failure
 * of its monitor, and does not stop other monitors and calls. @throws what may pass
 */
export type CallMatching = (pass: Pass, signal: AbortSignal) => Promise<void>

export function createCallMatching(deps: MatchingDeps): CallMatching {
  const { control, log } = deps
  const roomOf = createMonitorRooms(deps.waitingScores)

  /** A call whose end came before its start is looked at once more, later. */
  async function match(pass: Pass, signal: AbortSignal): Promise<void> {
    const { project_id, notes, monitors } = pass
    const unstarted = await unstartedOf(deps, notes, signal)
    const { tasks, failed } = await wantedTasks(deps, { noted: notes, monitors }, signal)
    await control.transaction().execute(async (tx) => {
      await deps.scoringTasks.addIn(tx, tasks)
      await queries.postponeCalls(tx, unstarted)
      await queries.forgetCalls(
        tx,
        notes.filter((note) => !unstarted.includes(note)),
      )
    })
    await countFailed(project_id, failed)
    if (tasks.length > 0) deps.scoringTasks.wake()
  }

  /** Finds a call that stops the others by halves, and leaves it out. */
  async function matchAll(pass: Pass, signal: AbortSignal): Promise<void> {
    const { project_id, notes, monitors } = pass
    try {
      await match(pass, signal)
    } catch (error) {
      const reason = lastingReason(error, log, signal)
      if (notes.length > 1) {
        const half = Math.ceil(notes.length / 2)
        await matchAll({ ...pass, notes: notes.slice(0, half) }, signal)
        return matchAll({ ...pass, notes: notes.slice(half) }, signal)
      }
      const why = notes.map(({ call_id }) => `Call ${call_id} was left out: ${reason}`).join()
      await control.transaction().execute((tx) => queries.forgetCalls(tx, notes))
      await countFailed(
        project_id,
        monitors.map((monitor) => ({ monitor, reason: why })),
      )
    }
  }

  async function countFailed(
    project_id: string,
    failed: readonly { monitor: ActiveMonitor; reason: string }[],
  ): Promise<void> {
    for (const { monitor, reason } of failed) {
      log.warn({ monitor: monitor.ref, reason }, 'a monitor skips calls')
      const { object_id, digest } = monitor
      await queries.countRun(control, { project_id, object_id, digest, error: reason })
    }
  }

  return async (pass, signal) => {
    const { open, newlyFull } = await roomOf(pass.project_id, pass.monitors)
    await countFailed(pass.project_id, newlyFull)
    await matchAll({ ...pass, monitors: open }, signal)
  }
}
