import type { Projects } from '../../accounts/projects.ts'
import type { TraceDb } from '../../stores/trace-db/port.ts'
import type { Feedback } from '../feedback/service.ts'
import { createCallReading } from './reading.ts'
import { createCallWriting } from './writing.ts'

export type Calls = ReturnType<typeof createCalls>

/** Calls: written part by part, read whole. */
export function createCalls(deps: { traces: TraceDb; projects: Projects; feedback: Feedback }) {
  return { ...createCallWriting(deps), ...createCallReading(deps) }
}
