import { ClientError, invalidRequest, unauthorized } from '../../errors.ts'
import type { CallContext, Caller } from '../../http/caller.ts'
import type { RawReply } from '../../http/route.ts'
import type { Peers } from '../../stores/control-db/peers.ts'
import type { ControlDb, ControlTx } from '../../stores/control-db/port.ts'
import type { SecretKey } from '../../stores/secret-key.ts'
import { isoIn, nowIso } from '../../time.ts'
import type { Audit } from '../audit/service.ts'
import { cookieIn, cookieText } from '../cookies.ts'
import { isUnlimited } from '../identity/rights.ts'
import type { Identity } from '../identity/service.ts'
import { endWithKey } from '../keys/key-end.ts'
import { randomText } from '../keys/key-text.ts'
import type { Keys } from '../keys/service.ts'
import type { UserRow } from '../user-queries.ts'
import { createFirstOperator } from './first-operator.ts'
import * as queries from './queries.ts'
import { createSessionCallers, KEY_ID, type SessionCallers, tokenHash } from './session-callers.ts'
import type { SignInReq } from './wire.ts'

/** A person signs in again after this. */
const SESSION_HOURS = 7 * 24

/** Long enough to send a link to somebody, who opens it the next day. */
const LINK_HOURS = 48

const HOUR_MS = 3_600_000

/** 285 bits. */
const TOKEN_CHARS = 48

/** The name of `SESSION_COOKIE` in `http/`, which areas do not import. */
const COOKIE = 'heddle_session'

/** What a session or a link was made with, and ends with. */
type SignedBy = Pick<Caller, 'keyId' | 'keyEndsAt'>

/** Browsers that have signed in, and the links that they sign in with. */
export interface Sessions extends SessionCallers {
  /**
   * Makes a link that signs a user in once; those before it stop working. A link that a key makes ends with it, and
   * where it signs in the key's own user, so does the session. Returns the path with its token.
   */
  makeLink(user: UserRow, by: SignedBy): Promise<string>
  /**
   * The path that signs the first operator in; undefined once that has happened. Where the server's secret key is
   * another one since, no key and no session is valid: there is a path again, until an operator has signed in under the
   * new key. Makes the operator where there is none.
   */
  firstSignIn(): Promise<string | undefined>
  /** Whether an operator has signed in to these stores, at any server, so that they are guarded by keys. */
  areInUse(): Promise<boolean>
  /** Signs a browser in by a link or a key. @throws 401 for one that is not valid */
  signIn(req: SignInReq, context: CallContext): Promise<RawReply>
  /** The reply headers that sign a browser in as a user; a session that a key makes ends with it. */
  cookieFor(
    user: UserRow,
    context: CallContext,
    key?: SignedBy,
  ): Promise<{ cookie: string; expiresAt: string }>
  /** Ends the session of a browser. @throws 503 where that fails; the browser forgets the session all the same */
  signOut(input: object, context: CallContext): Promise<RawReply>
  /** Ends all sessions and links of a user. */
  endAll(tx: ControlTx, userId: string): Promise<void>
}

export interface SessionsDeps {
  control: ControlDb
  peers: Pick<Peers, 'arePossible'>
  secretKey: SecretKey
  identity: Identity
  keys: Pick<Keys, 'callerOf'>
  audit: Audit
}

export function createSessions(deps: SessionsDeps): Sessions {
  const { control, secretKey, identity, keys, audit } = deps
  const hashOf = (token: string): string => tokenHash(secretKey, token)

  /** @param others whether links that the user has already go on to be valid */
  async function makeLink(
    user: UserRow,
    { others = 'end', by }: { others?: 'end' | 'stay'; by?: SignedBy } = {},
  ): Promise<string> {
    const token = randomText(TOKEN_CHARS)
    await control.transaction().execute(async (tx) => {
      if (others === 'end') await queries.deleteLinksOf(tx, user.id)
      const expires_at = endWithKey(isoIn(LINK_HOURS * HOUR_MS), by ?? {})
      const key_id = by === undefined || by.keyId.startsWith(KEY_ID) ? null : by.keyId
      await queries.insertLink(tx, { hash: hashOf(token), user_id: user.id, expires_at, key_id })
    })
    // In the fragment, which browsers do not send, so that no log of a proxy has it.
    return `/sign-in#${token}`
  }

  const firstOperator = createFirstOperator({ ...deps, makeLink })

  async function userOf({ token, key }: SignInReq): Promise<{ user: UserRow; by?: SignedBy }> {
    if (token !== undefined) {
      const taken = await queries.takeLink(control, hashOf(token), isoIn(0))
      const user = taken && (await identity.user(taken.user_id))
      if (user === undefined || user.disabled_at !== null)
        throw unauthorized(
          'This sign-in link is not valid: it was used, or it has expired, or its key has ended. Ask for a new one.',
        )
      const key = taken?.key
      // A session of another user must not depend on the key: background work of that user would have its rights.
      if (key?.user_id !== user.id) return { user }
      return { user, by: { keyId: key.id, ...(key.expires_at !== null && { keyEndsAt: key.expires_at }) } }
    }
    if (key === undefined) throw invalidRequest('Send the token of a sign-in link, or a key')
    const caller = await keys.callerOf(key)
    if (!isUnlimited(caller))
      throw unauthorized(
        'A key with limits does not sign a person in: use one of scope "all" without a project.',
      )
    return { user: await identity.userNamed(caller.user), by: caller }
  }

  async function cookieFor(user: UserRow, context: CallContext, key?: SignedBy) {
    const token = randomText(TOKEN_CHARS)
    const expiresAt = endWithKey(isoIn(SESSION_HOURS * HOUR_MS), key ?? {})
    const key_id = key?.keyId ?? null
    await control.transaction().execute(async (tx) => {
      await queries.deleteExpired(tx, isoIn(0))
      const times = { created_at: nowIso(), expires_at: expiresAt }
      await queries.insertSession(tx, { hash: hashOf(token), user_id: user.id, ...times, key_id })
      await firstOperator.noteSignIn(tx, user)
      const actor = { user: user.name, keyId: key_id ?? KEY_ID + user.id }
      await audit.record(actor, { action: 'session.start', entity: null, subject: user.name }, tx)
    })
    const seconds = Math.ceil((Date.parse(expiresAt) - Date.now()) / 1000)
    return { cookie: sessionCookie(token, seconds, context), expiresAt }
  }

  async function signIn(req: SignInReq, context: CallContext): Promise<RawReply> {
    const { user, by } = await userOf(req)
    const { cookie, expiresAt } = await cookieFor(user, context, by)
    return {
      headers: { 'content-type': 'application/json', 'set-cookie': cookie },
      body: JSON.stringify({ user: user.name, expires_at: expiresAt }),
    }
  }

  async function signOut(_input: object, context: CallContext): Promise<RawReply> {
    const token = cookieIn(context, COOKIE)
    const removal = { 'set-cookie': sessionCookie('', 0, context) }
    if (token !== undefined) await queries.deleteSession(control, hashOf(token)).catch(notEnded(removal))
    return {
      headers: { 'content-type': 'application/json', ...removal },
      body: '{"signed_out":true}',
    }
  }

  async function endAll(tx: ControlTx, userId: string): Promise<void> {
    await queries.deleteSessionsOf(tx, userId)
    await queries.deleteLinksOf(tx, userId)
  }

  return {
    makeLink: (user, by) => makeLink(user, { by }),
    firstSignIn: firstOperator.signInPath,
    areInUse: firstOperator.hasSignedIn,
    signIn,
    cookieFor,
    signOut,
    ...createSessionCallers({ control, secretKey, identity }),
    endAll,
  }
}

function notEnded(headers: Record<string, string>): (error: unknown) => never {
  return (error) => {
    const message =
      'This browser has forgotten its session, which could not be ended: it is valid until it expires'
    throw new ClientError(503, 'ServiceUnavailableError', message, { headers, cause: error })
  }
}

function sessionCookie(token: string, seconds: number, context: CallContext): string {
  return cookieText({ name: COOKIE, value: token, seconds, path: '/' }, context)
}
