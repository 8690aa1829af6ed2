import { Time } from '../time.tsx'
import type { TableColumn } from './column.ts'

/** Room for a date with its year. */
const WIDTH = 128

interface TimeColumnOptions<Row> {
  id: string
  title: string
  /** ISO 8601. */
  at: (row: Row) => string | null | undefined
  grows?: boolean
}

/** A column of moments, alike in every table. */
export function timeColumn<Row>({ at, ...column }: TimeColumnOptions<Row>): TableColumn<Row> {
  return {
    ...column,
    width: WIDTH,
    cell: (row) => (
      <span className="text-muted">
        <Time iso={at(row)} />
      </span>
    ),
  }
}
