import type { Selectable } from 'kysely'
import type { ApiKeysTable, SessionsTable, SignInLinksTable } from '../../stores/control-db/account-tables.ts'
import type { ControlDb, ControlTx } from '../../stores/control-db/port.ts'

export type SessionRow = Selectable<SessionsTable>

export async function insertLink(tx: ControlTx, row: Selectable<SignInLinksTable>): Promise<void> {
  await tx.insertInto('sign_in_links').values(row).execute()
}

/** Whom a link signs in, and the key that it was made with. */
export interface TakenLink {
  user_id: string
  key?: LinkKey
}

type LinkKey = Pick<Selectable<ApiKeysTable>, 'id' | 'user_id' | 'expires_at'>

/**
 * Uses a link up; undefined for one that is unknown or has expired, or whose key is revoked or gone, or of a disabled
 * user.
 */
export async function takeLink(tx: ControlTx, hash: string, now: string): Promise<TakenLink | undefined> {
  const row = await tx
    .deleteFrom('sign_in_links')
    .where('hash', '=', hash)
    .returning(['user_id', 'expires_at', 'key_id'])
    .executeTakeFirst()
  if (row === undefined || row.expires_at <= now) return undefined
  const { user_id, key_id } = row
  const key = key_id === null ? undefined : await keyOfLink(tx, key_id)
  if (key_id !== null && key === undefined) return undefined
  await deleteLinksOf(tx, user_id)
  return { user_id, ...(key && { key }) }
}

/** A key that may still make links; its end is that of the link too. */
function keyOfLink(tx: ControlTx, id: string): Promise<LinkKey | undefined> {
  return tx
    .selectFrom('api_keys')
    .innerJoin('users', 'users.id', 'api_keys.user_id')
    .select(['api_keys.id', 'api_keys.user_id', 'api_keys.expires_at'])
    .where('api_keys.id', '=', id)
    .where('api_keys.revoked_at', 'is', null)
    .where('users.disabled_at', 'is', null)
    .executeTakeFirst()
}

export async function deleteLinksOf(tx: ControlTx, userId: string): Promise<void> {
  await tx.deleteFrom('sign_in_links').where('user_id', '=', userId).execute()
}

export async function insertSession(tx: ControlTx, row: SessionRow): Promise<void> {
  await tx.insertInto('sessions').values(row).execute()
}

/**
 * A session, with when its key ends; undefined for one that is unknown, has expired, or whose key is revoked or gone.
 */
export function findSession(control: ControlDb, hash: string, now: string) {
  return control
    .selectFrom('sessions')
    .leftJoin('api_keys', 'api_keys.id', 'sessions.key_id')
    .select(['sessions.user_id', 'sessions.key_id', 'api_keys.expires_at as key_ends_at'])
    .where('sessions.hash', '=', hash)
    .where('sessions.expires_at', '>', now)
    .where((eb) =>
      eb.or([
        eb('sessions.key_id', 'is', null),
        eb.and([eb('api_keys.id', 'is not', null), eb('api_keys.revoked_at', 'is', null)]),
      ]),
    )
    .executeTakeFirst()
}

export async function deleteSession(tx: ControlTx, hash: string): Promise<void> {
  await tx.deleteFrom('sessions').where('hash', '=', hash).execute()
}

export async function deleteSessionsOf(tx: ControlTx, userId: string): Promise<void> {
  await tx.deleteFrom('sessions').where('user_id', '=', userId).execute()
}

export async function deleteExpired(tx: ControlTx, now: string): Promise<void> {
  await tx.deleteFrom('sessions').where('expires_at', '<=', now).execute()
  await tx.deleteFrom('sign_in_links').where('expires_at', '<=', now).execute()
}

/** Whether a user has ever signed in, or made a key. */
export async function hasSignedIn(control: ControlDb, userId: string): Promise<boolean> {
  const event = await control
    .selectFrom('audit_events')
    .select('id')
    .where('key_id', '=', `session:${userId}`)
    .limit(1)
    .executeTakeFirst()
  const key = await control
    .selectFrom('api_keys')
    .select('id')
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return event !== undefined || key !== undefined
}

/** Under which name the control database keeps the check of a secret key. */
const KEY_CHECK = 'key-check'

/** What tells the secret key under which an operator signed in last from others; undefined before it was noted. */
export async function findKeyCheck(control: ControlDb): Promise<string | undefined> {
  const row = await control
    .selectFrom('secrets')
    .select('value')
    .where('name', '=', KEY_CHECK)
    .executeTakeFirst()
  return row?.value
}

export async function noteKeyCheck(tx: ControlTx, value: string): Promise<void> {
  await tx
    .insertInto('secrets')
    .values({ name: KEY_CHECK, value })
    .onConflict((clash) => clash.column('name').doUpdateSet({ value }))
    .execute()
}
