import type { Projects } from '../../accounts/projects.ts'
import type { TraceDb } from '../../stores/trace-db/port.ts'
import type { Costs } from '../costs/service.ts'
import type { Feedback } from '../feedback/service.ts'
import type { Refs } from '../refs/service.ts'
import { createLineCache } from './line-cache.ts'
import { createCallReading } from './reading.ts'
import { createCallWriting } from './writing.ts'

export type Calls = ReturnType<typeof createCalls>

/** Calls: written part by part, read whole. */
export function createCalls(deps: {
  traces: TraceDb
  projects: Projects
  feedback: Feedback
  refs: Pick<Refs, 'resolve'>
  costs: Pick<Costs, 'priceLists'>
}) {
  const lines = createLineCache()
  return { ...createCallWriting({ ...deps, lines }), ...createCallReading({ ...deps, lines }) }
}
