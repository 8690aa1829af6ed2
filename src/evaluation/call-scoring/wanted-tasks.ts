import { createHash } from 'node:crypto'
import type { Principals } from '../../accounts/callers/principals.ts'
import { ClientError, messageOf } from '../../errors.ts'
import { idOf } from '../../ids.ts'
import type { Log } from '../../log.ts'
import { slicesOf } from '../../slices.ts'
import { isoIn, microsOf } from '../../time.ts'
import type { Call } from '../../trace/calls/messages/call-wire.ts'
import type { Calls } from '../../trace/calls/service.ts'
import type { Feedback } from '../../trace/feedback/service.ts'
import type { Query } from '../../trace/query-language/wire.ts'
import { logUnexpected } from '../../unexpected-error.ts'
import { backgroundContext, contextOfWork } from '../background-context.ts'
import { isTemporary } from '../retry.ts'
import { TURN_ENDED, turnOf } from '../scorers/agent-turn.ts'
import { CLASSIFIER_CLASS } from '../scorers/classifier.ts'
import { type ActiveMonitor, MONITORS_KEY_ID, objectOf } from './active-monitors.ts'
import type { MonitoredCall } from './queries.ts'
import { joinWindows, type NewScoringTask, type ScoringTask } from './scoring-task.ts'

export interface WantedDeps {
  calls: Pick<Calls, 'list'>
  feedback: Pick<Feedback, 'query'>
  principals: Principals
  log: Log
}

/** Ids that are asked for at once. */
const IDS_PER_QUERY = 5_000

/**
 * The tasks that monitors define for calls of one project, without those that exist, and the monitors that could not be
 * evaluated.
 */
export async function wantedTasks(
  deps: WantedDeps,
  { noted, monitors }: { noted: readonly MonitoredCall[]; monitors: readonly ActiveMonitor[] },
  signal: AbortSignal,
): Promise<{ tasks: NewScoringTask[]; failed: { monitor: ActiveMonitor; reason: string }[] }> {
  const project_id = noted[0]?.project_id ?? ''
  const call_ids = noted.map(({ call_id }) => call_id)
  const tasks: NewScoringTask[] = []
  const failed: { monitor: ActiveMonitor; reason: string }[] = []
  for (const monitor of monitors) {
    try {
      const wanted = await wantedCalls(deps, { project_id, call_ids, monitor }, signal)
      for (const one of wanted) for (const task of tasksOf(monitor, one)) tasks.push(task)
    } catch (error) {
      // An invalid query, or a publisher who has left, stops its own monitor only.
      failed.push({ monitor, reason: lastingReason(error, deps.log, signal) })
    }
  }
  const done = await doneIn(deps, { project_id, tasks }, signal)
  return { tasks: lastOfEach(tasks.filter(({ id }) => !done.has(id))), failed }
}

/**
 * Why monitors fail in a way that would be the same at the next pass, to be shown to people.
 * @throws the error that may pass, or the signal's reason
 */
export function lastingReason(error: unknown, log: Log, signal: AbortSignal): string {
  signal.throwIfAborted()
  if (isTemporary(error)) throw error
  return error instanceof ClientError ? messageOf(error) : logUnexpected(error, log)
}

/** Noted calls of one project that are not there and were not waited for yet: their start may still come. */
export async function unstartedOf(
  { calls }: Pick<WantedDeps, 'calls'>,
  noted: readonly MonitoredCall[],
  signal: AbortSignal,
): Promise<MonitoredCall[]> {
  const project_id = noted[0]?.project_id ?? ''
  const filter = { call_ids: noted.map(({ call_id }) => call_id) }
  const context = backgroundContext({ user: '', key_id: MONITORS_KEY_ID }, signal)
  const started = new Set<string>()
  for await (const { id } of await calls.list({ project_id, filter, columns: ['id'] }, context))
    started.add(id)
  return noted.filter(({ call_id, pending_write }) => !started.has(call_id) && pending_write === null)
}

interface WantedCall {
  call: Call & { ended_at: string }
  target: ScoringTask['target']
}

/** The calls that a monitor samples: of its ops, or agent turns. */
async function wantedCalls(
  { calls, principals }: WantedDeps,
  { project_id, call_ids, monitor }: { project_id: string; call_ids: string[]; monitor: ActiveMonitor },
  signal: AbortSignal,
): Promise<WantedCall[]> {
  const { query, user } = monitor
  const context = await contextOfWork(principals, { user, key_id: MONITORS_KEY_ID, project_id }, signal)
  const op_names = monitor.op_names.filter((name) => name !== TURN_ENDED)
  const wantsTurns = op_names.length < monitor.op_names.length
  const found = new Map<string, WantedCall>()
  const add = (call: Call, target: WantedCall['target']): void => {
    const { ended_at } = call
    if (ended_at !== null && isSampled(monitor, call))
      found.set(call.id, { call: { ...call, ended_at }, target })
  }
  if (op_names.length > 0 || !wantsTurns) {
    const filter = { call_ids, op_names: op_names.length === 0 ? undefined : op_names }
    const columns = ['started_at', 'ended_at']
    for await (const call of await calls.list({ project_id, filter, query, columns }, context))
      add(call, 'call')
  }
  if (wantsTurns) {
    const filter = { call_ids, trace_roots_only: true }
    const columns = ['started_at', 'ended_at', 'attributes']
    for await (const call of await calls.list({ project_id, filter, query, columns }, context))
      if (turnOf(call) !== undefined) add(call, 'agent_turn')
  }
  return [...found.values()]
}

/** Of those that are debounced, the last to end, with all calls of the window where the monitor scores these. */
function lastOfEach(tasks: readonly NewScoringTask[]): NewScoringTask[] {
  const last = new Map<string, NewScoringTask>()
  for (const task of tasks) {
    const key = task.singletonKey ?? task.id
    const before = last.get(key)
    last.set(key, before === undefined ? task : { ...task, ...joinWindows(before, task) })
  }
  return [...last.values()]
}

/** The debounce key of a call: its trace or thread, where it has one. */
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

function tasksOf(monitor: ActiveMonitor, { call, target }: WantedCall): NewScoringTask[] {
  const { ref, user, is_traced, scorer_debounce_config: debounce } = monitor
  const group = groupOf(monitor, call)
  const waits = group === null ? 0 : (debounce?.timeout_seconds ?? 0)
  const isWhole = group !== null && debounce?.aggregation_method === 'all_messages'
  return scorersOf(monitor).map((scorer_ref) => ({
    id: idOf(`${ref}/${scorer_ref}/${call.id}`, Math.floor(microsOf(call.started_at) / 1000)),
    payload: {
      project_id: call.project_id,
      call_id: call.id,
      scorer_ref,
      trigger_ref: ref,
      is_traced,
      user,
      key_id: MONITORS_KEY_ID,
      target,
      ended_at: call.ended_at,
      window_calls: isWhole ? [call.id] : null,
    },
    group: objectOf(monitor),
    runAt: isoIn(waits * 1000),
    singletonKey: group === null ? null : `${objectOf(monitor)} ${scorer_ref} ${hashed(group)}`,
  }))
}

/**
 * A trace or thread as part of a key: clients choose its id, which may be longer than an index takes, or hold U+0000.
 */
function hashed(group: string): string {
  return createHash('sha256').update(group).digest('hex')
}

/** Tasks that have left their feedback. */
async function doneIn(
  { feedback }: WantedDeps,
  { project_id, tasks }: { project_id: string; tasks: readonly NewScoringTask[] },
  signal: AbortSignal,
): Promise<Set<unknown>> {
  const context = backgroundContext({ user: '', key_id: MONITORS_KEY_ID }, signal)
  const done = new Set<unknown>()
  for (const some of slicesOf(tasks, IDS_PER_QUERY)) {
    const ids = some.map(({ id }) => ({ $literal: id }))
    const query: Query = { $expr: { $in: [{ $getField: 'id' }, ids] } }
    const { result } = await feedback.query({ project_id, fields: ['id'], query }, context)
    for (const { id } of result) done.add(id)
  }
  return done
}

/** Tasks of one call, at the most. */
export function tasksPerCall(monitors: readonly ActiveMonitor[]): number {
  return monitors.reduce((sum, monitor) => sum + scorersOf(monitor).length, 0)
}

/** Wire: the scorers of a classifier run together. */
function scorersOf({ _class_name, ref, scorers }: ActiveMonitor): readonly string[] {
  return _class_name === CLASSIFIER_CLASS ? [ref] : scorers
}
