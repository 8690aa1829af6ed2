import type { Log } from '../../log.ts'
import type { ControlDb } from '../../stores/control-db/tables.ts'
import { nowIso } from '../../time.ts'
import type { Calls } from '../../trace/calls/service.ts'
import type { OnEnded } from '../../trace/calls/writing.ts'
import type { Objects } from '../../trace/objects/service.ts'
import { createBackgroundLoop } from '../background-loop.ts'
import { type ActiveMonitor, knownMonitors, MONITOR_CLASS } from './active-monitors.ts'
import * as queries from './queries.ts'
import { type WantedDeps, wantedTasks } from './wanted-tasks.ts'

/** Calls looked at together. */
const CALLS_PER_PASS = 500

/** Projects whose monitors are remembered, a few hundred bytes each. */
const PROJECTS_MAX = 10_000

export interface MonitorsDeps extends WantedDeps {
  control: ControlDb
  calls: Pick<Calls, 'list' | 'watchEnds'>
  objects: Pick<Objects, 'query' | 'watchChanges'>
  log: Log
  /** Tells that there are new tasks. */
  onTasks: () => void
}

/**
 * Has scorers applied to new calls, as the monitors of a project say. A call is noted before its end is written, so that
 * none is missed whenever the server ends; it is scored once, however often its end comes.
 */
export function createMonitors(deps: MonitorsDeps) {
  const { control, calls, objects, log } = deps
  const known = new Map<string, Promise<ActiveMonitor[]>>()
  /** When calls were noted whose end is being written. */
  const writing = new Set<string>()
  const loop = createBackgroundLoop({ name: 'monitors', log, pass })

  function monitorsOf(projectId: string): Promise<ActiveMonitor[]> {
    const before = known.get(projectId)
    if (before !== undefined) return before
    const found = knownMonitors(objects, projectId).then((all) => all.flatMap(({ runs }) => runs ?? []))
    if (known.size >= PROJECTS_MAX) known.clear()
    known.set(projectId, found)
    found.catch(() => known.delete(projectId))
    return found
  }

  const note: OnEnded = async (ended) => {
    const noted: queries.MonitoredCall[] = []
    const noted_at = nowIso()
    for (const [project_id, own] of Map.groupBy(ended, (call) => call.project_id)) {
      if ((await monitorsOf(project_id)).length === 0) continue
      for (const call_id of new Set(own.map(({ id }) => id))) noted.push({ project_id, call_id, noted_at })
    }
    if (noted.length === 0) return () => undefined
    writing.add(noted_at)
    await queries.noteCalls(control, noted).catch((error: unknown) => {
      writing.delete(noted_at)
      throw error
    })
    return () => {
      writing.delete(noted_at)
      loop.kick()
    }
  }

  /** Makes tasks of the calls that monitors want, and forgets the calls. */
  async function pass(signal: AbortSignal): Promise<string | undefined> {
    // What an earlier server noted has been written, or never will be.
    const before = [...writing].sort()[0] ?? nowIso()
    const noted = await queries.notedCalls(control, { before, limit: CALLS_PER_PASS })
    const [first] = noted
    if (first === undefined) return undefined
    const monitors = await monitorsOf(first.project_id)
    const { project_id } = first
    const { tasks, failed } = await wantedTasks(deps, { noted, monitors }, signal)
    for (const { monitor, reason } of failed) {
      log.warn({ monitor: monitor.ref, reason }, 'a monitor cannot choose calls')
      await queries.countRun(control, { project_id, object_id: monitor.object_id, error: reason })
    }
    await control.transaction().execute(async (tx) => {
      await queries.insertTasks(tx, tasks)
      await queries.forgetCalls(tx, noted)
    })
    if (tasks.length > 0) deps.onTasks()
    return nowIso()
  }

  return {
    start(): AsyncDisposable {
      calls.watchEnds(note)
      objects.watchChanges(({ project_id, base_object_class }) => {
        if (base_object_class === MONITOR_CLASS) known.delete(project_id)
      })
      return loop.start()
    },
  }
}
