import pMap from 'p-map'
import type { Principals } from '../../accounts/callers/principals.ts'
import { ClientError } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import { newId } from '../../ids.ts'
import type { Log } from '../../log.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import type { Calls } from '../../trace/calls/service.ts'
import type { Objects } from '../../trace/objects/service.ts'
import type { Obj } from '../../trace/objects/wire.ts'
import { type ProjectPath, projectIdOf } from '../../trace/project-path-wire.ts'
import { logUnexpected } from '../../unexpected-error.ts'
import { contextOfWork } from '../background-context.ts'
import { CLASSIFIER_CLASS } from '../scorers/classifier.ts'
import type { LoadingDeps } from '../scorers/load-scorer.ts'
import { type KnownMonitor, knownMonitors, MONITORS_KEY_ID, readMonitor } from './active-monitors.ts'
import * as queries from './queries.ts'
import { createScorerChecks } from './scorer-checks.ts'
import type { WaitingLimits } from './waiting-scores.ts'
import type * as wire from './wire.ts'

/** Monitors, and scorers of each, that are read at once: a project may have a hundred of both. */
const READ_AT_ONCE = 4

export interface MonitorStatesDeps extends LoadingDeps {
  control: ControlDb
  log: Log
  waiting: Pick<WaitingLimits, 'ofMonitors'>
  objects: Pick<Objects, 'read' | 'lastPublished' | 'watchChanges'>
  calls: Pick<Calls, 'list'>
  principals: Principals
}

/** The state of monitors: whether they run, why not, and how many calls they scored. */
export interface MonitorStates {
  /** Warnings for the reply to publishing a monitor. */
  warnings(
    published: Pick<Obj, 'project_id' | 'object_id' | 'digest' | 'val'>,
    context: CallContext,
  ): Promise<string[]>
  /** Every monitor of a project, as it was published last. */
  list(req: ProjectPath, context: CallContext): Promise<wire.MonitorsRes>
}

export function createMonitorStates(deps: MonitorStatesDeps): MonitorStates {
  const scorerChecks = createScorerChecks(deps)

  /** Why an active monitor does not run, or runs only in part; empty where it runs. */
  async function problemsOf(
    project_id: string,
    monitor: KnownMonitor,
    context: CallContext,
  ): Promise<string[]> {
    const { runs } = monitor
    if (runs === undefined) return monitor.problems
    const refs = runs._class_name === CLASSIFIER_CLASS ? [runs.ref] : runs.scorers
    const within = { log: deps.log, signal: context.signal }
    const scorers = await pMap(refs, (ref) => problemIn(() => scorerChecks.check(project_id, ref), within), {
      concurrency: READ_AT_ONCE,
    })
    const query = await problemIn(async () => {
      if (runs.query == null) return
      // An id that no call has: the query is compiled to find errors, and selects nothing.
      const filter = { call_ids: [newId()] }
      for await (const _ of await deps.calls.list({ project_id, filter, query: runs.query }, context)) break
    }, within)
    const right = await problemIn(async () => {
      const work = { user: runs.user, key_id: MONITORS_KEY_ID, project_id }
      await contextOfWork(deps.principals, work, context.signal)
    }, within)
    return [right, ...scorers, query && `query: ${query}`].filter((problem) => problem !== undefined)
  }

  function warnings(
    published: Pick<Obj, 'project_id' | 'object_id' | 'digest' | 'val'>,
    context: CallContext,
  ) {
    const { project_id } = published
    const { user } = context.caller
    return problemsOf(project_id, readMonitor(project_id, { ...published, user }), context)
  }

  async function list(req: ProjectPath, context: CallContext): Promise<wire.MonitorsRes> {
    const project_id = projectIdOf(req)
    const known = await knownMonitors(deps.objects, project_id)
    const states = new Map(
      (await queries.statesIn(deps.control, project_id)).map((one) => [one.object_id, one]),
    )
    const waitingOf = await deps.waiting.ofMonitors(project_id, known)
    const monitors = await pMap(
      known,
      async (monitor) => {
        const { object_id, digest, ref, class_name, is_active } = monitor
        const state = states.get(object_id)
        const waiting = waitingOf(monitor)
        const full = monitor.runs === undefined ? undefined : waiting.problem
        return {
          object_id,
          digest,
          ref,
          class_name,
          is_active,
          problems: [
            ...(await problemsOf(project_id, monitor, context)),
            ...(full === undefined ? [] : [full]),
          ],
          scored: state?.scored ?? 0,
          failed: state?.failed ?? 0,
          waiting: waiting.count,
          last_run_at: state?.last_run_at ?? null,
          last_error: state?.last_error ?? null,
          last_error_at: state?.last_error_at ?? null,
          last_error_digest: state?.last_error_digest ?? null,
        }
      },
      { concurrency: READ_AT_ONCE },
    )
    return { monitors }
  }

  return { warnings, list }
}

/** Why a part of a monitor fails; whatever that is, the other monitors of the project are shown. */
async function problemIn(
  work: () => Promise<void>,
  { log, signal }: { log: Log; signal: AbortSignal },
): Promise<string | undefined> {
  try {
    await work()
    return undefined
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof ClientError) return error.message
    return logUnexpected(error, log)
  }
}
