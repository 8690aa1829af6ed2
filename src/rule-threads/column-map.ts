import { z } from 'zod'
import { recordOf } from '../wire/bounded-wire.ts'

/** Arguments of a scorer: some, and at most as many as columns of a wide dataset. */
const ARGUMENTS_MAX = 1_000

/** Columns by the arguments of a scorer that take them, as scorers are published. */
export const ColumnMap = recordOf(z.string(), ARGUMENTS_MAX).nullish()

/**
 * A row with the columns that `columnMap` names for arguments of a scorer under the names of these as well. Wire: a
 * column that has an argument's own name comes first.
 */
export function withMapped(
  row: Record<string, unknown>,
  columnMap: z.output<typeof ColumnMap>,
): Record<string, unknown> {
  const mapped = Object.entries(columnMap ?? {}).filter(([, column]) => Object.hasOwn(row, column))
  return { ...Object.fromEntries(mapped.map(([name, column]) => [name, row[column]])), ...row }
}
