import { setImmediate } from 'node:timers/promises'
import { invalidRequest } from '../../errors.ts'
import type { JsonText } from '../../json/lossless-json.ts'
import { createDigestList, type DigestList } from './digest-list.ts'
import type { TableUpdate } from './wire.ts'

/** Updates made before other requests run: some milliseconds in a table of a million rows. */
const UPDATES_PER_TURN = 1_000

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
 * Applies updates in order to the digests of a table's rows. Each row that one adds is the next of `added`.
 * @returns the digests of the new table, and that of the row which each update changed.
 * @throws 400 for an index out of range.
 */
export async function applyUpdates(
  updates: readonly TableUpdate[],
  { base, added }: { base: readonly string[]; added: readonly StoredRow[] },
): Promise<{ rowDigests: string[]; updated: string[] }> {
  const list = createDigestList(base)
  const rows = added.values()
  const updated: string[] = []
  for (const update of updates) {
    updated.push(applyUpdate(update, list, rows))
    if (updated.length % UPDATES_PER_TURN === 0) await setImmediate()
  }
  return { rowDigests: list.all(), updated }
}

function applyUpdate(update: TableUpdate, list: DigestList, added: Iterator<StoredRow>): string {
  const length = list.length()
  if ('pop' in update) {
    const { index } = update.pop
    if (index < 0 || index >= length) throw invalidRequest('Index out of range')
    return list.remove(index)
  }
  const index = 'append' in update ? length : update.insert.index
  if (index < 0 || index > length) throw invalidRequest('Index out of range')
  const { digest } = added.next().value as StoredRow // one for each update that adds
  list.insert(index, digest)
  return digest
}
