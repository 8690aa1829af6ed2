import type { ControlTx } from '../../stores/control-db/port.ts'
import { aliasesIn } from './alias-queries.ts'
import type { CollectionName, CollectionRow } from './collection-queries.ts'
import * as links from './link-queries.ts'
import { LATEST, versionOf } from './names.ts'
import * as queries from './queries.ts'

/** The columns of a collection that members need. */
export type CollectionRef = Pick<CollectionRow, 'id' | 'kind' | 'type'> & CollectionName

/** A version as a member of a collection: its own sequence, or a portfolio that it is linked to. */
export interface Member {
  collection: CollectionRef
  version: queries.VersionRow
  /** Its number in the collection; null while it is pending. */
  number: number | null
  /** When it became a member. */
  since: string
}

/** A version in its own sequence. */
export function ownMember(version: queries.VersionRow): Member {
  const collection = { ...version, id: version.collection_id, kind: 'sequence' as const }
  return { collection, version, number: version.version, since: version.created_at }
}

/** A version in a portfolio. */
export function linkedMember(collection: CollectionRef, row: links.LinkedRow): Member {
  return { collection, version: row, number: row.link_version, since: row.linked_at }
}

/** A committed version by a name in its collection: `latest`, `v3` or an alias. */
export async function memberOf(
  db: ControlTx,
  collection: CollectionRef,
  alias: string,
): Promise<Member | undefined> {
  if (collection.kind === 'portfolio') {
    const linked = await linkedVersion(db, collection.id, alias)
    return linked && linkedMember(collection, linked)
  }
  const version = await ownVersion(db, collection.id, alias)
  return version && ownMember(version)
}

/** The aliases of a version in a collection, with `latest` first where it applies. */
export async function memberAliases(db: ControlTx, { collection, version }: Member): Promise<string[]> {
  const stored = await aliasesIn(db, { collection_id: collection.id, artifact_id: version.id })
  const newest = await memberOf(db, collection, LATEST)
  return newest?.version.id === version.id ? [LATEST, ...stored] : stored
}

function linkedVersion(db: ControlTx, id: string, alias: string): Promise<links.LinkedRow | undefined> {
  if (alias === LATEST) return links.newestLinked(db, id)
  const number = versionOf(alias)
  return number === undefined ? links.aliasedLinked(db, id, alias) : links.numberedLinked(db, id, number)
}

function ownVersion(db: ControlTx, id: string, alias: string): Promise<queries.VersionRow | undefined> {
  if (alias === LATEST) return queries.newestVersion(db, id)
  const number = versionOf(alias)
  return number === undefined
    ? queries.aliasedVersion(db, id, alias)
    : queries.numberedVersion(db, id, number)
}
