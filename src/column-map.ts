/**
 * A row with the columns that `columnMap` names for arguments of a scorer under the names of these as well. Wire: a
 * column that has an argument's own name comes first.
 */
export function withMapped(
  row: Record<string, unknown>,
  columnMap: Record<string, string> | null | undefined,
): Record<string, unknown> {
  const mapped = Object.entries(columnMap ?? {}).filter(([, column]) => Object.hasOwn(row, column))
  return { ...Object.fromEntries(mapped.map(([name, column]) => [name, row[column]])), ...row }
}
