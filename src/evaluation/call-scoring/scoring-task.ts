import { z } from 'zod'
import type { NewJob } from '../../jobs/job-kind.ts'
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
  /** The ids of the calls that are scored together, in the order they ended; null for the call alone. */
  window_calls: z.array(z.string()).nullable(),
})
export type ScoringTask = z.output<typeof ScoringTask>

/** A task that is to be added; its id is also that of the feedback that comes of it. */
export type NewScoringTask = NewJob<ScoringTask>

/** Where tasks are added. */
export interface ScoringTasks {
  /** Adds tasks; a debounced task replaces the waiting one and keeps the calls of its window. */
  addIn(tx: ControlTx, tasks: readonly NewScoringTask[]): Promise<void>
  /** Starts added tasks without delay. */
  wake(): void
}

/** Calls that are scored together; a window that is full is scored at once, and the next one begins. */
const WINDOW_CALLS_MAX = 200

/** A task whose window holds also the calls of the one before, which it replaces. */
export function joinWindows(before: ScoringTask, task: ScoringTask): ScoringTask {
  if (before.window_calls === null || task.window_calls === null) return task
  const own = task.window_calls
  const earlier = before.window_calls.filter((id) => !own.includes(id))
  return { ...task, window_calls: [...earlier, ...own] }
}

/** The same for a task that waits already; undefined where its window is full. */
export function joinWaiting(waiting: ScoringTask, task: ScoringTask): ScoringTask | undefined {
  const isFull = (waiting.window_calls?.length ?? 0) >= WINDOW_CALLS_MAX
  return isFull ? undefined : joinWindows(waiting, task)
}
