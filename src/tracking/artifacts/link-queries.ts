import type { Selectable } from 'kysely'
import type { Rights } from '../../access.ts'
import type { ArtifactLinksTable } from '../../stores/control-db/artifact-tables.ts'
import type { ControlTx } from '../../stores/control-db/port.ts'
import type { CollectionRow } from './collection-queries.ts'
import { countOf, type VersionRow, versions, wholePage } from './queries.ts'
import { isReadable } from './readable-queries.ts'

/** A version as a member of a portfolio. */
export type LinkedRow = VersionRow & { link_id: string; link_version: number; linked_at: string }

/** A portfolio with a version. */
export type LinkingRow = CollectionRow & { link_version: number; linked_at: string }

export async function insertLink(tx: ControlTx, row: Selectable<ArtifactLinksTable>): Promise<void> {
  await tx.insertInto('artifact_links').values(row).execute()
}

/** Removes a version from a portfolio, with its aliases there. */
export async function deleteLink(
  tx: ControlTx,
  link: { collection_id: string; artifact_id: string },
): Promise<void> {
  for (const table of ['artifact_aliases', 'artifact_links'] as const) {
    await tx
      .deleteFrom(table)
      .where('collection_id', '=', link.collection_id)
      .where('artifact_id', '=', link.artifact_id)
      .execute()
  }
}

function linked(db: ControlTx, collectionId: string) {
  return versions(db)
    .innerJoin('artifact_links as link', 'link.artifact_id', 'version.id')
    .select(['link.id as link_id', 'link.version as link_version', 'link.created_at as linked_at'])
    .where('link.collection_id', '=', collectionId)
}

/** The version with the highest number in a portfolio. */
export function newestLinked(db: ControlTx, collectionId: string): Promise<LinkedRow | undefined> {
  return linked(db, collectionId).orderBy('link.version', 'desc').limit(1).executeTakeFirst()
}

/** A version by its number in a portfolio. */
export function numberedLinked(
  db: ControlTx,
  collectionId: string,
  version: number,
): Promise<LinkedRow | undefined> {
  return linked(db, collectionId).where('link.version', '=', version).executeTakeFirst()
}

/** A version by a stored alias in a portfolio. */
export function aliasedLinked(
  db: ControlTx,
  collectionId: string,
  alias: string,
): Promise<LinkedRow | undefined> {
  return linked(db, collectionId)
    .innerJoin('artifact_aliases as alias', (join) =>
      join
        .onRef('alias.artifact_id', '=', 'link.artifact_id')
        .onRef('alias.collection_id', '=', 'link.collection_id'),
    )
    .where('alias.alias', '=', alias)
    .executeTakeFirst()
}

/** A version of a portfolio by its id. */
export function findLinked(
  db: ControlTx,
  collectionId: string,
  artifactId: string,
): Promise<LinkedRow | undefined> {
  return linked(db, collectionId).where('version.id', '=', artifactId).executeTakeFirst()
}

/** A portfolio, as far as these rights allow to read the versions in it. */
interface OfPortfolio {
  collection_id: string
  rights: Rights
}

/** The members of a portfolio, one page. Ids of links grow with time. @throws 413 */
export function listLinked(
  db: ControlTx,
  of: OfPortfolio,
  page: { after: string | undefined; limit: number; order: 'asc' | 'desc' },
): Promise<LinkedRow[]> {
  let query = linked(db, of.collection_id).where(isReadable(of.rights))
  if (page.after !== undefined) query = query.where('link.id', page.order === 'asc' ? '>' : '<', page.after)
  return wholePage(db, query.orderBy('link.id', page.order).limit(page.limit))
}

export function countLinked(db: ControlTx, of: OfPortfolio): Promise<number> {
  return countOf(db, linked(db, of.collection_id).where(isReadable(of.rights)))
}

/**
 * The portfolios that have a version, as far as these rights allow to read them, in the order in which it was linked.
 */
export function portfoliosOf(
  db: ControlTx,
  of: { artifact_id: string; rights: Rights },
  limit: number,
): Promise<LinkingRow[]> {
  return db
    .selectFrom('artifact_collections as collection')
    .innerJoin('artifact_links as link', 'link.collection_id', 'collection.id')
    .selectAll('collection')
    .select(['link.version as link_version', 'link.created_at as linked_at'])
    .where('link.artifact_id', '=', of.artifact_id)
    .where(isReadable(of.rights))
    .orderBy('link.id')
    .limit(limit)
    .execute()
}
