import { unauthorized } from '../../errors.ts'
import type { Caller } from '../../http/caller.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import type { SecretKey } from '../../stores/secret-key.ts'
import { isoIn } from '../../time.ts'
import { rightsOf } from '../identity/rights.ts'
import type { Identity } from '../identity/service.ts'
import type { UserRow } from '../user-queries.ts'
import { findSession } from './queries.ts'

/** With the id of the user, what stands for a session that was made without a key. */
export const KEY_ID = 'session:'

/** Who the callers are that sessions show. */
export interface SessionCallers {
  /** @throws 401 for a session that is unknown or has ended, or of a disabled user */
  callerOf(session: string): Promise<Caller>
  /** The caller as whom work goes on that began in a session; undefined for the id of something else. */
  callerById(keyId: string): Promise<Caller | undefined>
}

export function createSessionCallers(deps: {
  control: ControlDb
  secretKey: SecretKey
  identity: Identity
}): SessionCallers {
  const { control, secretKey, identity } = deps

  async function callerOfUser(user: UserRow): Promise<Caller> {
    const roles = await identity.rolesOf(user.id)
    const rights = rightsOf({ roles, isOperator: user.is_operator === 1, scope: 'all', projectId: null })
    return { user: user.name, defaultEntity: user.default_entity, keyId: KEY_ID + user.id, rights }
  }

  /** A session that was made with a key is that key: its limits hold, and work that begins in it ends with it. */
  async function callerIn(
    user: UserRow,
    { key_id: keyId, key_ends_at: keyEndsAt }: { key_id: string | null; key_ends_at: string | null },
  ): Promise<Caller> {
    const caller = await callerOfUser(user)
    return { ...caller, ...(keyId !== null && { keyId }), ...(keyEndsAt !== null && { keyEndsAt }) }
  }

  async function callerOf(session: string): Promise<Caller> {
    const found = await findSession(control, tokenHash(secretKey, session), isoIn(0))
    const user = found && (await identity.user(found.user_id))
    if (found === undefined || user === undefined || user.disabled_at !== null)
      throw unauthorized('The session has ended: sign in again.')
    const caller = await callerIn(user, found)
    return { ...caller, rights: { ...caller.rights, isInSession: true } }
  }

  async function callerById(keyId: string): Promise<Caller | undefined> {
    if (!keyId.startsWith(KEY_ID)) return undefined
    const user = await identity.user(keyId.slice(KEY_ID.length))
    return user === undefined || user.disabled_at !== null ? undefined : callerOfUser(user)
  }

  return { callerOf, callerById }
}

/** What is stored of a session's cookie or a link's token. */
export function tokenHash(secretKey: SecretKey, token: string): string {
  return secretKey.hash('sessions', token)
}
