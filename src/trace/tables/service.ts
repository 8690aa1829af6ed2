import type { Projects } from '../../accounts/projects.ts'
import type { TraceDb } from '../../stores/trace-db/port.ts'
import { createTableReading } from './reading.ts'
import { createTableWriting } from './writing.ts'

export type Tables = ReturnType<typeof createTables>

/** Tables: ordered lists of rows; a row is stored once per project, however many tables hold it. */
export function createTables(deps: { traces: TraceDb; projects: Projects }) {
  return { ...createTableWriting(deps), ...createTableReading(deps) }
}
