import { createHash } from 'node:crypto'
import { idOf } from '../../ids.ts'
import { isoOfMicros, microsOf } from '../../time.ts'
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
  const tasks: (ScoringTask & { ended_at: string })[] = []
  for (const monitor of monitors) {
    const principal = { user: monitor.user, key_id: KEY_ID }
    const { op_names, query } = monitor
    const filter = { call_ids, op_names: op_names.length === 0 ? undefined : op_names }
    const columns = ['started_at', 'ended_at']
    const context = backgroundContext(principal, signal)
    for await (const call of await deps.calls.list({ project_id, filter, query, columns }, context)) {
      if (call.ended_at === null || !isSampled(monitor, call)) continue
      for (const scorer_ref of monitor.scorers)
        tasks.push({ ended_at: call.ended_at, ...taskOf(monitor, call, scorer_ref) })
    }
  }
  const done = await doneIn(deps, { project_id, tasks }, signal)
  const waiting = tasks.filter(({ id }) => !done.has(id)).sort((a, b) => (a.ended_at < b.ended_at ? -1 : 1))
  // Of those that are debounced, the last to end.
  const last = new Map(waiting.map(({ ended_at: _, ...task }) => [task.debounce_key ?? task.id, task]))
  return [...last.values()]
}

/** What a call is debounced with: the calls of its trace or thread, where it is in one. */
function groupOf({ scorer_debounce_config: debounce }: ActiveMonitor, call: Call): string | null {
  return debounce == null ? null : (call[debounce.aggregation_field] ?? null)
}

/** Always the same for a call, or what it is debounced with, and a monitor, whatever its version. */
function isSampled(monitor: ActiveMonitor, call: Call): boolean {
  const sampled = groupOf(monitor, call) ?? call.id
  const hash = createHash('sha256')
    .update(`${objectOf(monitor)}/${sampled}`)
    .digest()
  return hash.readUInt32BE(0) / 2 ** 32 < monitor.sampling_rate
}

/** A monitor's ref without its version. */
function objectOf({ ref }: ActiveMonitor): string {
  const [object = ''] = ref.split(':').slice(1, 2)
  return object
}

function taskOf(monitor: ActiveMonitor, call: Call, scorer_ref: string): ScoringTask {
  const { ref, user, is_traced, scorer_debounce_config: debounce } = monitor
  const group = groupOf(monitor, call)
  const waits = group === null ? 0 : (debounce?.timeout_seconds ?? 0)
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
    due_at: isoOfMicros(Math.round((Date.now() + waits * 1000) * 1000)),
    debounce_key: group === null ? null : `${objectOf(monitor)} ${scorer_ref} ${group}`,
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
