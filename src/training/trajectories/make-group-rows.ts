import { deserialize } from 'node:v8'
import { createLimitedWork } from '../../threads/limited-work.ts'
import { type GroupRows, rowsOfGroup, type StoredGroup } from './group-rows.ts'

/** Bytes of a group whose rows are made on the thread that serves, in some 8 ms. */
const BYTES_HERE_MAX = 256 * 1024

const makeRows = createLimitedWork<StoredGroup, Uint8Array[]>({
  program: new URL('./group-rows-worker.ts', import.meta.url),
  does: 'make calls of a trajectory group',
  // A group of 78 MB takes 1.5 s; each turn repeats the messages before it, so long conversations take far longer.
  msMax: 60_000,
  memoryMbMax: 3072,
})

/** The rows of a group, made in a thread where that may take long. @throws 413, 503 */
export async function groupRows(group: StoredGroup): Promise<Iterable<GroupRows>> {
  if (group.bytes.byteLength <= BYTES_HERE_MAX) return rowsOfGroup(group)
  const lists = await makeRows(group.source.project_id, group)
  return lists.values().map((list) => deserialize(list) as GroupRows)
}
