import { invalidRequest, notFound, tooLarge } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import { newId } from '../../ids.ts'
import { slicesOf } from '../../slices.ts'
import type { Calls } from '../../trace/calls/service.ts'
import type { Objects } from '../../trace/objects/service.ts'
import { principalOf } from '../background-context.ts'
import { loadScorers, SCORERS_MAX } from '../scorers/load-scorer.ts'
import { createMonitorStates, type MonitorStates } from './monitor-states.ts'
import { createScoring, type ScoringDeps } from './scoring.ts'
import type { ScoringTasks } from './scoring-task.ts'
import type { WaitingLimits } from './waiting-scores.ts'
import type * as wire from './wire.ts'

/** Wire: a list of ids in a filter is limited to this. */
const CALLS_PER_QUERY = 1000

/** Calls times scorers of one request; a task takes some 500 bytes. */
const TASKS_PER_REQUEST_MAX = 100_000

/** Scores of calls that have been written, made in the background and stored as feedback. */
export interface CallScoring {
  /**
   * Resolves when the tasks are stored.
   * @throws 400, 404 for scorers and calls that cannot be used, 413 for too many
   */
  score(req: wire.CallsScoreReq, context: CallContext): Promise<wire.CallsScoreRes>
  monitors: MonitorStates['list']
  monitorWarnings: MonitorStates['warnings']
  tasks: ScoringTasks
  waiting: WaitingLimits
}

export function createCallScoring(
  deps: ScoringDeps & { calls: Pick<Calls, 'ids'>; objects: Pick<Objects, 'lastPublished' | 'watchChanges'> },
): CallScoring {
  const { control, calls } = deps
  const scoring = createScoring(deps)
  const states = createMonitorStates({ ...deps, waiting: scoring.waiting })

  /** @throws 404 that names the first unknown call. */
  async function checkCalls(project_id: string, ids: readonly string[], context: CallContext): Promise<void> {
    const missing = new Set(ids)
    for (const some of slicesOf(ids, CALLS_PER_QUERY)) {
      const filter = { call_ids: some }
      for await (const id of await calls.ids({ project_id, filter }, context)) missing.delete(id)
    }
    const [first] = missing
    if (first !== undefined) throw notFound('Call', first.slice(0, 64))
  }

  async function score(req: wire.CallsScoreReq, context: CallContext) {
    const { project_id } = req
    const call_ids = [...new Set(req.call_ids)]
    const scorer_refs = [...new Set(req.scorer_refs)]
    if (call_ids.length === 0 || scorer_refs.length === 0)
      throw invalidRequest('There must be at least one call and one scorer')
    if (scorer_refs.length > SCORERS_MAX) throw tooLarge(`At most ${SCORERS_MAX} scorers at once`)
    if (call_ids.length * scorer_refs.length > TASKS_PER_REQUEST_MAX)
      throw tooLarge(`At most ${TASKS_PER_REQUEST_MAX} scores at once`)
    const scorers = await loadScorers(deps, { refs: scorer_refs, projectId: project_id })
    await checkCalls(project_id, call_ids, context)
    await scoring.waiting.check(project_id)
    const common = {
      project_id,
      trigger_ref: null,
      is_traced: true,
      target: 'call' as const,
      ended_at: null,
      window_calls: null,
      ...principalOf(context),
    }
    const tasks = call_ids.flatMap((call_id) =>
      scorers.map(({ ref }) => ({ id: newId(), payload: { ...common, call_id, scorer_ref: ref } })),
    )
    await control.transaction().execute((tx) => scoring.tasks.addIn(tx, tasks))
    scoring.tasks.wake()
    return {}
  }

  return {
    score,
    monitors: states.list,
    monitorWarnings: states.warnings,
    tasks: scoring.tasks,
    waiting: scoring.waiting,
  }
}
