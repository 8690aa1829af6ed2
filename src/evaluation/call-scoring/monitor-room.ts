import { LRUCache } from 'lru-cache'
import type { ActiveMonitor } from './active-monitors.ts'
import type { WaitingLimits } from './waiting-scores.ts'

/** Monitors that skip calls. */
const SKIPPING_MAX = 10_000

/** The monitors of a project by whether they may add tasks. */
export interface MonitorRoom {
  open: ActiveMonitor[]
  /**
   * Those that skip calls, too many of whose scores wait, and did not before: each says so once, and not at every pass.
   */
  newlyFull: { monitor: ActiveMonitor; reason: string }[]
}

export type MonitorRooms = (project_id: string, monitors: readonly ActiveMonitor[]) => Promise<MonitorRoom>

export function createMonitorRooms(waiting: Pick<WaitingLimits, 'ofMonitors'>): MonitorRooms {
  const skipping = new LRUCache<string, true>({ max: SKIPPING_MAX })

  return async (project_id, monitors) => {
    const waitingOf = await waiting.ofMonitors(project_id, monitors)
    const room: MonitorRoom = { open: [], newlyFull: [] }
    for (const monitor of monitors) {
      const reason = waitingOf(monitor).problem
      if (reason === undefined) room.open.push(monitor)
      else if (!skipping.has(monitor.ref)) room.newlyFull.push({ monitor, reason })
      if (reason === undefined) skipping.delete(monitor.ref)
      else skipping.set(monitor.ref, true)
    }
    return room
  }
}
