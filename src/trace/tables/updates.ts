import { invalidRequest } from '../../errors.ts'
import type { JsonText } from '../../lossless-json.ts'
import type { TableUpdate } from './wire.ts'

/** A row as it is stored: its value is the client's own JSON text. */
export interface StoredRow {
  digest: string
  val: string
}

/** The row that an update adds; none for one that removes a row. */
export function rowOf(update: TableUpdate): JsonText[] {
  if ('pop' in update) return []
  return ['append' in update ? update.append.row : update.insert.row]
}

/**
 * Applies one update to the list of row digests, in place; a row that it adds is the next of `added`, and goes to
 * `rows`. Returns the digest of the row that it changed.
 * @throws 400 for an index out of range.
 */
export function applyUpdate(
  update: TableUpdate,
  { rowDigests, rows, added }: { rowDigests: string[]; rows: StoredRow[]; added: readonly StoredRow[] },
): string {
  if ('pop' in update) {
    const index = update.pop.index
    const [popped] = index < 0 ? [] : rowDigests.splice(index, 1)
    if (popped === undefined) throw invalidRequest('Index out of range')
    return popped
  }
  const index = 'append' in update ? rowDigests.length : update.insert.index
  if (index < 0 || index > rowDigests.length) throw invalidRequest('Index out of range')
  const row = added[rows.length] as StoredRow // one for each update that adds
  rows.push(row)
  rowDigests.splice(index, 0, row.digest)
  return row.digest
}
