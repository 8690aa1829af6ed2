import { createHash } from 'node:crypto'
import { idOf } from '../../ids.ts'
import { microsOf, nowIso } from '../../time.ts'
import type { Calls } from '../../trace/calls/service.ts'
import type { Call } from '../../trace/calls/wire.ts'
import type { Feedback } from '../../trace/feedback/service.ts'
import type { Query } from '../../trace/query-language/wire.ts'
import { backgroundContext } from '../background-context.ts'
import type { ActiveMonitor } from './active-monitors.ts'
import type { MonitoredCall, ScoringTask } from './queries.ts'

export interface WantedDeps {
  calls: Pick<Calls, 'list'>
  feedback: Pick<Feedback, 'query'>
}

/** The usage of what monitors ask for is that of nobody's key. */
const KEY_ID = 'monitors'

/** What monitors want of calls of one project, without what has been done. */
export async function wantedTasks(
  deps: WantedDeps,
  { noted, monitors }: { noted: readonly MonitoredCall[]; monitors: readonly ActiveMonitor[] },
  signal: AbortSignal,
): Promise<ScoringTask[]> {
  const project_id = noted[0]?.project_id ?? ''
  const call_ids = noted.map(({ call_id }) => call_id)
  const tasks: ScoringTask[] = []
  for (const monitor of monitors) {
    const principal = { user: monitor.user, key_id: KEY_ID }
    const { op_names, query } = monitor
    const filter = { call_ids, op_names: op_names.length === 0 ? undefined : op_names }
    const columns = ['started_at', 'ended_at']
    const context = backgroundContext(principal, signal)
    for await (const call of await deps.calls.list({ project_id, filter, query, columns }, context)) {
      if (call.ended_at === null || !isSampled(monitor, call)) continue
      for (const scorer_ref of monitor.scorers) tasks.push(taskOf(monitor, call, scorer_ref))
    }
  }
  const done = await doneIn(deps, { project_id, tasks }, signal)
  return tasks.filter(({ id }) => !done.has(id))
}

/** Always the same for a call and a monitor, whatever its version. */
function isSampled({ ref, sampling_rate }: ActiveMonitor, { id }: Call): boolean {
  const [object] = ref.split(':').slice(1, 2)
  const hash = createHash('sha256').update(`${object}/${id}`).digest()
  return hash.readUInt32BE(0) / 2 ** 32 < sampling_rate
}

function taskOf(monitor: ActiveMonitor, call: Call, scorer_ref: string): ScoringTask {
  const { ref, user, is_traced } = monitor
  return {
    id: idOf(`${ref}/${scorer_ref}/${call.id}`, Math.floor(microsOf(call.started_at) / 1000)),
    project_id: call.project_id,
    call_id: call.id,
    scorer_ref,
    trigger_ref: ref,
    is_traced: is_traced ? 1 : 0,
    user,
    key_id: KEY_ID,
    attempts: 0,
    due_at: nowIso(),
  }
}

/** Tasks that have left their feedback. */
async function doneIn(
  { feedback }: WantedDeps,
  { project_id, tasks }: { project_id: string; tasks: readonly ScoringTask[] },
  signal: AbortSignal,
): Promise<Set<unknown>> {
  if (tasks.length === 0) return new Set()
  const ids = tasks.map(({ id }) => ({ $literal: id }))
  const query: Query = { $expr: { $in: [{ $getField: 'id' }, ids] } }
  const context = backgroundContext({ user: '', key_id: KEY_ID }, signal)
  const { result } = await feedback.query({ project_id, fields: ['id'], query }, context)
  return new Set(result.map(({ id }) => id))
}
