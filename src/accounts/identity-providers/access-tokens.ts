import { timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { unauthorized } from '../../errors.ts'
import type { Caller } from '../../http/caller.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import type { SecretKey } from '../../stores/secret-key.ts'
import { rightsOf } from '../identity/rights.ts'
import type { Identity } from '../identity/service.ts'
import { findProvider, type IdentityProviderRow } from './queries.ts'

/** Wire: clients get a new token five minutes before the end. */
export const ACCESS_TOKEN_SECONDS = 3600

/** Keys of users begin otherwise. */
const PREFIX = 'heddle_access.'

/** Before the id of the identity provider. */
const KEY_ID = 'identity:'

const Payload = z.object({
  /** The id of the identity provider that it was given by. */
  provider: z.string(),
  /** Seconds since 1970. */
  exp: z.number(),
})

/** Who the callers are that access tokens show. */
export interface AccessTokens {
  /** A token that stands for the service account of an identity provider, for an hour. */
  issue(provider: Pick<IdentityProviderRow, 'id'>): string
  /** The service account of an identity provider; undefined for one that is disabled or has left the entity. */
  callerBy(provider: IdentityProviderRow): Promise<Caller | undefined>
  /** Whether a key is meant to be an access token. */
  isOne(key: string): boolean
  /** @throws 401 for a token that has expired or was not given by this server, or whose identity provider is gone */
  callerOf(token: string): Promise<Caller>
  /** The caller as whom work goes on that began with a token; undefined for the id of something else. */
  callerById(keyId: string): Promise<Caller | undefined>
}

/** Tokens are signed and not stored: they end with their identity provider, their service account, or by time. */
export function createAccessTokens(deps: {
  control: ControlDb
  secretKey: SecretKey
  identity: Identity
}): AccessTokens {
  const { control, secretKey, identity } = deps

  function issue({ id }: Pick<IdentityProviderRow, 'id'>): string {
    const exp = Math.floor(Date.now() / 1000) + ACCESS_TOKEN_SECONDS
    const payload: z.output<typeof Payload> = { provider: id, exp }
    const text = Buffer.from(JSON.stringify(payload)).toString('base64url')
    return `${PREFIX}${text}.${signatureOf(text)}`
  }

  function signatureOf(text: string): string {
    return secretKey.hash('access-tokens', text)
  }

  async function callerOf(token: string): Promise<Caller> {
    const [text = '', signature = ''] = token.slice(PREFIX.length).split('.', 2)
    if (!sameText(signature, signatureOf(text))) throw unauthorized('The access token is not valid.')
    const { provider, exp } = Payload.parse(JSON.parse(Buffer.from(text, 'base64url').toString()))
    if (exp <= Date.now() / 1000) throw unauthorized('The access token has expired.')
    const caller = await callerByProviderId(provider)
    if (caller === undefined) throw unauthorized('The access token has been revoked.')
    return caller
  }

  async function callerBy(provider: IdentityProviderRow): Promise<Caller | undefined> {
    const user = await identity.user(provider.user_id)
    if (user === undefined || user.disabled_at !== null) return undefined
    const roles = await identity.rolesOf(user.id)
    if (!roles.has(provider.entity)) return undefined
    const rights = rightsOf({ roles, isOperator: false, scope: 'all', projectId: null })
    return { user: user.name, defaultEntity: user.default_entity, keyId: KEY_ID + provider.id, rights }
  }

  async function callerByProviderId(id: string): Promise<Caller | undefined> {
    const provider = await findProvider(control, id)
    return provider && callerBy(provider)
  }

  return {
    issue,
    callerBy,
    isOne: (key) => key.startsWith(PREFIX),
    callerOf,
    callerById: async (keyId) =>
      keyId.startsWith(KEY_ID) ? callerByProviderId(keyId.slice(KEY_ID.length)) : undefined,
  }
}

function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}
