import type { Projects } from '../../accounts/projects.ts'
import type { TraceDb } from '../../stores/trace-db/port.ts'
import { createTableReading, type TableReading } from './reading.ts'
import { createTableWriting, type TableWriting } from './writing.ts'

/** Tables: ordered lists of rows; a row is stored once per project, however many tables hold it. */
export interface Tables extends TableWriting, TableReading {}

export function createTables(deps: { traces: TraceDb; projects: Projects }): Tables {
  return { ...createTableWriting(deps), ...createTableReading(deps) }
}
