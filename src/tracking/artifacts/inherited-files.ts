import { setImmediate } from 'node:timers/promises'
import type { Rights } from '../../access.ts'
import { slicesOf } from '../../slices.ts'
import type { ControlDb, ControlTx } from '../../stores/control-db/port.ts'
import type { ManifestEntry } from './manifest.ts'
import * as queries from './queries.ts'

/** The files of earlier versions that a manifest names, by the id of the version and by their MD5. */
export type InheritedFiles = ReadonlyMap<string, ReadonlyMap<string, queries.FileContent>>

/**
 * Finds the files that entries of a manifest have from earlier versions of an entity, as far as these rights allow to
 * read them. Each version is read once, since a manifest may have a hundred thousand entries of the same one.
 */
export async function findInherited(
  control: ControlDb,
  entries: readonly ManifestEntry[],
  readable: { entity: string; rights: Rights },
): Promise<InheritedFiles> {
  const md5s = new Map<string, Set<string>>()
  for (const { birthArtifactId: id, md5 } of entries) {
    if (id !== undefined) md5s.set(id, (md5s.get(id) ?? new Set()).add(md5))
  }
  const found = new Map<string, Map<string, queries.FileContent>>()
  for (const ids of slicesOf([...md5s.keys()], queries.ROWS_PER_STATEMENT)) {
    for (const birth of await queries.committedVersions(control, ids)) {
      if (birth.entity !== readable.entity || !readable.rights.allows('read', birth)) continue
      found.set(birth.id, await filesOf(control, birth.id, [...(md5s.get(birth.id) ?? [])]))
    }
  }
  return found
}

/** Without the files of versions that have been deleted meanwhile. */
export async function stillThere(tx: ControlTx, found: InheritedFiles): Promise<InheritedFiles> {
  const there = new Map<string, ReadonlyMap<string, queries.FileContent>>()
  for (const ids of slicesOf([...found.keys()], queries.ROWS_PER_STATEMENT)) {
    for (const { id } of await queries.committedVersions(tx, ids)) there.set(id, found.get(id) ?? new Map())
  }
  return there
}

async function filesOf(
  control: ControlDb,
  id: string,
  md5s: readonly string[],
): Promise<Map<string, queries.FileContent>> {
  const files = new Map<string, queries.FileContent>()
  for (const some of slicesOf(md5s, queries.ROWS_PER_STATEMENT)) {
    for (const file of await queries.filesByMd5(control, id, some)) files.set(file.md5, file)
    // SQLite answers without a turn of the event loop.
    await setImmediate()
  }
  return files
}
