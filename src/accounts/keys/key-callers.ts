import { timingSafeEqual } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { placeOf } from '../../access.ts'
import { ClientError, unauthorized } from '../../errors.ts'
import type { Caller } from '../../http/caller.ts'
import type { Peers } from '../../stores/control-db/peers.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import type { SecretKey } from '../../stores/secret-key.ts'
import { isoIn } from '../../time.ts'
import { rightsOf } from '../identity/rights.ts'
import type { Identity } from '../identity/service.ts'
import { prefixOf } from './key-text.ts'
import { findKey, findKeyByPrefix, type KeyRow, updateKey } from './queries.ts'

/** Keys whose callers are remembered. */
const REMEMBERED_MAX = 10_000

/**
 * How long a caller is remembered. Changes through this server take effect at once, those through another one when its
 * report arrives, and those of another process on the same data folder within this time.
 */
const REMEMBERED_MS = 2_000

/** How exactly the last use of a key is known: writing each use would cost more than the request. */
const LAST_USED_MS = 60_000

/** Who the callers are that keys show. */
export interface KeyCallers {
  /** @throws 401 for a key that is unknown, expired or revoked, or of a disabled user */
  callerOf(key: string): Promise<Caller>
  /** The caller as whom work goes on that began with a request; undefined once its key is not valid any more. */
  callerById(keyId: string): Promise<Caller | undefined>
  /** Forgets remembered callers: after roles, users or keys have changed. */
  forget(): void
}

export function createKeyCallers(deps: {
  control: ControlDb
  peers: Peers
  secretKey: SecretKey
  identity: Identity
}): KeyCallers {
  const { control, peers, secretKey, identity } = deps
  const remembered = new LRUCache<string, Caller>({ max: REMEMBERED_MAX, ttl: REMEMBERED_MS })
  /** How often remembered callers were forgotten. */
  let forgotten = 0

  async function callerOf(key: string): Promise<Caller> {
    const hash = hashOf(secretKey, key)
    const known = remembered.get(hash)
    if (known !== undefined) return known
    const begunAt = forgotten
    const prefix = prefixOf(key)
    const row = prefix === undefined ? undefined : await findKeyByPrefix(control, prefix)
    if (row === undefined || !sameText(row.hash, hash)) throw unauthorized(INVALID)
    const caller = await callerOfRow(row)
    if (caller === undefined) throw unauthorized(INVALID)
    // What was read before a change is not remembered after it.
    if (begunAt === forgotten) remembered.set(hash, caller)
    return caller
  }

  async function callerOfRow(row: KeyRow): Promise<Caller | undefined> {
    const now = isoIn(0)
    if (row.revoked_at !== null || (row.expires_at !== null && row.expires_at <= now)) return undefined
    const user = await identity.user(row.user_id)
    if (user === undefined || user.disabled_at !== null) return undefined
    if (row.last_used_at === null || row.last_used_at < isoIn(-LAST_USED_MS))
      await updateKey(control, row.id, { last_used_at: now }).catch(unlessUnavailable)
    const roles = await identity.rolesOf(user.id)
    const { scope, project_id: projectId } = row
    const rights = rightsOf({ roles, isOperator: user.is_operator === 1, scope, projectId })
    const defaultEntity = projectId === null ? user.default_entity : (placeOf(projectId).entity ?? '')
    const end = row.expires_at === null ? {} : { keyEndsAt: row.expires_at }
    return { user: user.name, defaultEntity, keyId: row.id, ...end, rights }
  }

  async function callerById(keyId: string): Promise<Caller | undefined> {
    const row = await findKey(control, keyId)
    return row && callerOfRow(row)
  }

  function forget(): void {
    forgotten++
    remembered.clear()
  }

  peers.onChange(['users', 'memberships', 'api_keys'], forget)
  return { callerOf, callerById, forget }
}

/** What is stored of a key. */
export function hashOf(secretKey: SecretKey, key: string): string {
  return secretKey.hash('api-keys', key)
}

const INVALID = 'The API key is not valid: it is unknown, expired or revoked.'

function sameText(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))
}

/** A key is valid too while its use cannot be noted: reads do not depend on writes. */
function unlessUnavailable(error: unknown): void {
  if (!(error instanceof ClientError && error.status === 503)) throw error
}
