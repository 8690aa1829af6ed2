import type { ControlTx } from '../../stores/control-db/port.ts'

/** Points an alias at a version, away from its previous one. */
export async function putAlias(
  tx: ControlTx,
  row: { collection_id: string; alias: string; artifact_id: string },
): Promise<void> {
  await tx
    .insertInto('artifact_aliases')
    .values(row)
    .onConflict((clash) =>
      clash.columns(['collection_id', 'alias']).doUpdateSet({ artifact_id: row.artifact_id }),
    )
    .execute()
}

/** Takes an alias from a version in one collection. */
export async function dropAlias(
  tx: ControlTx,
  row: { collection_id: string; alias: string; artifact_id: string },
): Promise<void> {
  await tx
    .deleteFrom('artifact_aliases')
    .where('collection_id', '=', row.collection_id)
    .where('artifact_id', '=', row.artifact_id)
    .where('alias', '=', row.alias)
    .execute()
}

/** The stored aliases of a version in one collection, by name. */
export async function aliasesIn(
  db: ControlTx,
  of: { collection_id: string; artifact_id: string },
): Promise<string[]> {
  const rows = await db
    .selectFrom('artifact_aliases')
    .select('alias')
    .where('collection_id', '=', of.collection_id)
    .where('artifact_id', '=', of.artifact_id)
    .orderBy('alias')
    .execute()
  return rows.map((row) => row.alias)
}

/** A stored alias that one of a sequence's versions has, and the collection in which it has it. */
export function anyAliasInto(
  db: ControlTx,
  sequenceId: string,
): Promise<{ alias: string; version: number | null; collection: string } | undefined> {
  return db
    .selectFrom('artifact_aliases as alias')
    .innerJoin('artifact_versions as version', 'version.id', 'alias.artifact_id')
    .innerJoin('artifact_collections as collection', 'collection.id', 'alias.collection_id')
    .select(['alias.alias', 'version.version', 'collection.name as collection'])
    .where('version.collection_id', '=', sequenceId)
    .orderBy('version.version')
    .limit(1)
    .executeTakeFirst()
}

/** A stored alias of a version, in any collection. */
export function anyAliasOf(db: ControlTx, artifactId: string): Promise<{ alias: string } | undefined> {
  return db
    .selectFrom('artifact_aliases')
    .select('alias')
    .where('artifact_id', '=', artifactId)
    .orderBy('alias')
    .limit(1)
    .executeTakeFirst()
}

/** The stored aliases of a collection by name, one page. */
export async function pageAliases(
  db: ControlTx,
  page: { collection_id: string; after: string; limit: number },
): Promise<string[]> {
  const rows = await db
    .selectFrom('artifact_aliases')
    .select('alias')
    .where('collection_id', '=', page.collection_id)
    .where('alias', '>', page.after)
    .orderBy('alias')
    .limit(page.limit)
    .execute()
  return rows.map((row) => row.alias)
}

/** Stored aliases that versions have in their sequences, by name. */
export function listAliases(
  db: ControlTx,
  artifactIds: readonly string[],
): Promise<{ artifact_id: string; alias: string }[]> {
  return db
    .selectFrom('artifact_aliases as alias')
    .innerJoin('artifact_versions as version', (join) =>
      join
        .onRef('version.id', '=', 'alias.artifact_id')
        .onRef('version.collection_id', '=', 'alias.collection_id'),
    )
    .select(['alias.artifact_id', 'alias.alias'])
    .where('alias.artifact_id', 'in', artifactIds)
    .orderBy('alias.alias')
    .execute()
}

/** Which of the given versions are the newest of their sequence. */
export async function newestAmong(db: ControlTx, artifactIds: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom('artifact_versions as version')
    .select('version.id')
    .where('version.id', 'in', artifactIds)
    .where('version.state', '=', 'COMMITTED')
    .where((eb) =>
      eb(
        'version.version',
        '=',
        eb
          .selectFrom('artifact_versions as other')
          .select((inner) => inner.fn.max('other.version').as('newest'))
          .whereRef('other.collection_id', '=', 'version.collection_id')
          .where('other.state', '=', 'COMMITTED'),
      ),
    )
    .execute()
  return rows.map((row) => row.id)
}
