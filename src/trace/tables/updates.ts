import { invalidRequest } from '../../errors.ts'
import { jsonDigest } from '../digest.ts'
import type { TableUpdate } from './wire.ts'

/** A row as it is stored: its value is the client's own JSON text. */
export interface StoredRow {
  digest: string
  val: string
}

/**
 * Applies one update to the list of row digests, in place, and adds a new row to `rows`. Returns the digest of the row
 * it was about.
 * @throws 400 for an index out of range.
 */
export function applyUpdate(update: TableUpdate, rowDigests: string[], rows: StoredRow[]): string {
  if ('pop' in update) {
    const index = update.pop.index
    const [popped] = index < 0 ? [] : rowDigests.splice(index, 1)
    if (popped === undefined) throw invalidRequest('Index out of range')
    return popped
  }
  const { row, index } = 'append' in update ? { ...update.append, index: rowDigests.length } : update.insert
  if (index < 0 || index > rowDigests.length) throw invalidRequest('Index out of range')
  const added = { digest: jsonDigest(row.text), val: row.text }
  rows.push(added)
  rowDigests.splice(index, 0, added.digest)
  return added.digest
}
