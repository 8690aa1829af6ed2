import type { SelectQueryBuilder } from 'kysely'
import { slicesOf } from '../slices.ts'
import type { ControlDb, ControlTx } from '../stores/control-db/port.ts'
import type { ControlTables } from '../stores/control-db/tables.ts'
import type { Content } from './content.ts'

/** Digests in one statement: databases bound the number of its parameters. */
const DIGESTS_PER_STATEMENT = 1_000

export async function blobKeyOf(control: ControlTx, digest: string): Promise<string | undefined> {
  const row = await control
    .selectFrom('contents')
    .select('blob_key')
    .where('digest', '=', digest)
    .executeTakeFirst()
  return row?.blob_key
}

/** Records the key of a content; false where the same bytes already have another key, which stays. */
export async function insertContent(
  tx: ControlTx,
  content: Content & { blob_key: string },
): Promise<boolean> {
  const { digest, md5, size, blob_key } = content
  const row = await tx
    .insertInto('contents')
    .values({ digest, md5, size, blob_key })
    .onConflict((clash) => clash.doNothing())
    .returning('digest')
    .executeTakeFirst()
  return row !== undefined
}

/** Those of the keys under which contents lie. */
export async function knownBlobKeys(control: ControlDb, keys: readonly string[]): Promise<string[]> {
  const rows = await control.selectFrom('contents').select('blob_key').where('blob_key', 'in', keys).execute()
  return rows.map(({ blob_key }) => blob_key)
}

/** What an owner has. */
export function contentsOf(control: ControlDb, owner: string): Promise<Content[]> {
  return control
    .selectFrom('contents')
    .innerJoin('content_owners', 'content_owners.digest', 'contents.digest')
    .select(['contents.digest', 'contents.md5', 'contents.size'])
    .where('content_owners.owner', '=', owner)
    .execute()
}

/** A query for ids. */
export type Ids = SelectQueryBuilder<ControlTables, keyof ControlTables, { id: string }>

/**
 * Owners whose names are the prefix and an id below another one, except those of some ids. Databases sort or hash both
 * sides of an EXCEPT, whereas PostgreSQL would search all of a large NOT IN for each row.
 */
export async function ownersBelow(
  control: ControlDb,
  { prefix, id, except }: { prefix: string; id: string; except: Ids | undefined },
): Promise<string[]> {
  const below = control
    .selectFrom('content_owners')
    .select((eb) => eb.fn<string>('substr', ['owner', eb.lit(prefix.length + 1)]).as('id'))
    .distinct()
    .where('owner', 'like', `${prefix}%`)
    .where('owner', '<', prefix + id)
  const rows = await (except === undefined ? below : below.except(except)).execute()
  return rows.map((row) => prefix + row.id)
}

/** How many of these there are; each counts once. */
export async function countKnown(tx: ControlTx, digests: readonly string[]): Promise<number> {
  let count = 0
  for (const slice of slicesOf(digests, DIGESTS_PER_STATEMENT)) {
    const rows = await tx.selectFrom('contents').select('digest').where('digest', 'in', slice).execute()
    count += rows.length
  }
  return count
}

export async function addOwner(tx: ControlTx, owner: string, digests: readonly string[]): Promise<void> {
  for (const slice of slicesOf(digests, DIGESTS_PER_STATEMENT)) {
    await tx
      .insertInto('content_owners')
      .values(slice.map((digest) => ({ owner, digest })))
      .onConflict((clash) => clash.doNothing())
      .execute()
  }
}

/** Forgets owners and what only they owned; returns the blob keys of that. */
export function removeOwners(control: ControlDb, owners: readonly string[]): Promise<string[]> {
  return control.transaction().execute(async (tx) => {
    const released = await tx
      .deleteFrom('content_owners')
      .where('owner', 'in', owners)
      .returning('digest')
      .execute()
    const blobKeys: string[] = []
    for (const slice of slicesOf(
      released.map(({ digest }) => digest),
      DIGESTS_PER_STATEMENT,
    )) {
      const orphans = await tx
        .deleteFrom('contents')
        .where('digest', 'in', slice)
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('content_owners')
                .select('owner')
                .whereRef('content_owners.digest', '=', 'contents.digest'),
            ),
          ),
        )
        .returning('blob_key')
        .execute()
      blobKeys.push(...orphans.map(({ blob_key }) => blob_key))
    }
    return blobKeys
  })
}
