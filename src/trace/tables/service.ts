import { createTableReader, type TableReader } from './reader.ts'
import { createTableWriter, type TableWriter, type TableWriterDeps } from './writer.ts'

/** Tables: ordered lists of rows; a row is stored once per project, however many tables hold it. */
export interface Tables extends TableWriter, TableReader {}

export function createTables(deps: TableWriterDeps): Tables {
  return { ...createTableWriter(deps), ...createTableReader(deps) }
}
