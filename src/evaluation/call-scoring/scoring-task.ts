import { z } from 'zod'
import type { NewJob } from '../../jobs/job-kind.ts'
import type { Joinable } from '../../jobs/replace-waiting.ts'
import type { ControlTx } from '../../stores/control-db/port.ts'

/** A scorer that is to be applied to a call. */
export const ScoringTask = z.object({
  project_id: z.string(),
  call_id: z.string(),
  scorer_ref: z.string(),
  /** The monitor that defines it; absent for a request. */
  trigger_ref: z.string().nullable(),
  /** Whether scoring is a call of its own. */
  is_traced: z.boolean(),
  user: z.string(),
  key_id: z.string(),
  /** The form in which the call is scored. */
  target: z.enum(['call', 'agent_turn']),
  /**
   * When the call ended, of one that may make way for a later one; null in requests, and in tasks older than this
   * field.
   */
  ended_at: z.string().nullable().default(null),
  /** The ids of the calls that are scored together; null for the call alone. */
  window_calls: z.array(z.string()).nullable(),
})
export type ScoringTask = z.output<typeof ScoringTask>

/** A task that is to be added; its id is also that of the feedback that comes of it. */
export type NewScoringTask = NewJob<ScoringTask>

/** Where tasks are added. */
export interface ScoringTasks {
  /** Adds tasks; of a debounced one and the one that waits, the later stays, with the calls of both windows. */
  addIn(tx: ControlTx, tasks: readonly NewScoringTask[]): Promise<void>
  /** Starts added tasks without delay. */
  wake(): void
}

/** Calls that are scored together; a window that is full is scored at once, and the next one begins. */
const WINDOW_CALLS_MAX = 200

type Task = Joinable<ScoringTask>

/**
 * Of two tasks that are debounced together, the one whose call ended last, whichever was written first; its window
 * holds the calls of both.
 */
export function joinWindows(before: Task, next: Task): Task {
  const isBeforeLater = (before.payload.ended_at ?? '') > (next.payload.ended_at ?? '')
  const { id, payload } = isBeforeLater ? before : next
  if (before.payload.window_calls === null || next.payload.window_calls === null) return { id, payload }
  const window_calls = [...new Set([...before.payload.window_calls, ...next.payload.window_calls])]
  return { id, payload: { ...payload, window_calls } }
}

/** The same for a task that waits already; undefined where its window is full. */
export function joinWaiting(waiting: Task, next: Task): Task | undefined {
  const isFull = (waiting.payload.window_calls?.length ?? 0) >= WINDOW_CALLS_MAX
  return isFull ? undefined : joinWindows(waiting, next)
}
