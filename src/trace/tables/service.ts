import type { Projects } from '../../accounts/projects.ts'
import type { TraceDb } from '../../stores/trace-db/port.ts'
import { createTableReader, type TableReader } from './reader.ts'
import { createTableWriter, type TableWriter } from './writer.ts'

/** Tables: ordered lists of rows; a row is stored once per project, however many tables hold it. */
export interface Tables extends TableWriter, TableReader {}

export function createTables(deps: { traces: TraceDb; projects: Projects }): Tables {
  return { ...createTableWriter(deps), ...createTableReader(deps) }
}
