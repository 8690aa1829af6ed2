import type { MonitorState } from '../api/monitors.ts'
import { Status } from './status.tsx'

/** Whether a monitor runs, in a word or two. */
export function MonitorStatus({ monitor }: { monitor: MonitorState }) {
  if (!monitor.is_active) return <Status kind="pending" word="not active" />
  if (monitor.problems.length > 0) return <Status kind="error" word="does not work" />
  return <Status kind="running" word="active" />
}
