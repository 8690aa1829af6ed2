import { LRUCache } from 'lru-cache'
import { randomNonce, randomPKCECodeVerifier, randomState } from 'openid-client'
import { conflict, invalidRequest, messageOf } from '../../errors.ts'
import { type CallContext, originOf } from '../../http/caller.ts'
import type { RawReply } from '../../http/route.ts'
import type { Log } from '../../log.ts'
import { grantedTeams, type SingleSignOn } from '../../settings/single-sign-on.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import type { SecretKey } from '../../stores/secret-key.ts'
import type { Audit } from '../audit/service.ts'
import { identityText } from '../identity/provider-identity.ts'
import type { Identity } from '../identity/service.ts'
import type { Keys } from '../keys/service.ts'
import type { Sessions } from '../sessions/service.ts'
import { findUser, type UserRow } from '../user-queries.ts'
import { ATTEMPT_MS, attemptCookie, attemptIn } from './attempt.ts'
import { applyGroups } from './group-roles.ts'
import { type Person, personIn } from './person.ts'
import { createProvider } from './provider.ts'
import { SignInError } from './sign-in-error.ts'
import { actorOf, userOf } from './sign-in-user.ts'
import type { CallbackQuery, StartQuery } from './wire.ts'

const CALLBACK = '/v1/accounts/oidc/callback'

/** Answers that are remembered as used; beyond them, the provider alone refuses a code that was used. */
const USED_MAX = 10_000

/** Sign-in of people through a provider of OpenID Connect. */
export interface Oidc {
  /** Sends a browser to the provider. @throws 400 for a `return_to` that is not a path of this server */
  start(req: StartQuery, context: CallContext): Promise<RawReply>
  /** Signs in the person whom the provider names; a failure leads to the sign-in page, with a code that says why. */
  callback(req: CallbackQuery, context: CallContext): Promise<RawReply>
}

export interface OidcDeps {
  control: ControlDb
  secretKey: SecretKey
  identity: Identity
  keys: Pick<Keys, 'forget'>
  sessions: Pick<Sessions, 'cookieFor'>
  audit: Audit
  log: Log
  settings: SingleSignOn | undefined
}

export function createOidc(deps: OidcDeps): Oidc {
  return deps.settings === undefined ? NO_PROVIDER : createOidcWith(deps, deps.settings)
}

const NO_PROVIDER: Oidc = { start: refuse, callback: refuse }

async function refuse(): Promise<never> {
  throw conflict('This server has no sign-in provider: its operator names one with HEDDLE_OIDC_ISSUER')
}

function createOidcWith(deps: OidcDeps, settings: SingleSignOn): Oidc {
  const { control, secretKey, keys, sessions, audit, log } = deps
  const provider = createProvider(settings)
  const reservedNames = grantedTeams(settings)
  const used = new LRUCache<string, true>({ max: USED_MAX, ttl: ATTEMPT_MS })

  async function start({ return_to }: StartQuery, context: CallContext): Promise<RawReply> {
    const attempt = {
      state: randomState(),
      nonce: randomNonce(),
      verifier: randomPKCECodeVerifier(),
      returnTo: localPath(return_to, originOf(context)),
    }
    try {
      const url = await provider.authorizationUrl(attempt, originOf(context) + CALLBACK)
      return redirect(url.href, attemptCookie(secretKey, attempt, context))
    } catch (error) {
      return failed(error)
    }
  }

  async function callback(query: CallbackQuery, context: CallContext): Promise<RawReply> {
    try {
      const attempt = attemptIn(secretKey, context)
      if (attempt === undefined || attempt.state !== query.state || used.has(attempt.state))
        throw new SignInError('expired')
      used.set(attempt.state, true)
      const claims = await provider.redeem(answerOf(query, context), attempt)
      const user = await signIn(personIn(claims, settings))
      const { cookie } = await sessions.cookieFor(user, context)
      return redirect(attempt.returnTo, cookie)
    } catch (error) {
      return failed(error)
    }
  }

  /** In one transaction: a sign-in that fails leaves no user and no membership behind. */
  async function signIn(person: Person): Promise<UserRow> {
    const { signUp } = settings
    try {
      return await control.transaction().execute(async (tx) => {
        const user = await userOf(tx, person, { ...deps, signUp, reservedNames })
        await applyGroups(tx, user, person.grants, deps)
        // Groups may have changed what it may do.
        return (await findUser(tx, user.id)) ?? user
      })
    } catch (error) {
      if (error instanceof SignInError) await recordRefusal(person, error)
      throw error
    } finally {
      keys.forget()
    }
  }

  async function recordRefusal(person: Person, { code }: SignInError): Promise<void> {
    const identity = identityText(person)
    const actor = actorOf({ name: person.email ?? identity })
    const details = { identity, reason: code }
    await audit.record(actor, { action: 'session.refuse', entity: null, subject: actor.user, details })
  }

  function failed(error: unknown): RawReply {
    if (!(error instanceof SignInError)) throw error
    const { code, cause } = error
    // Messages alone: errors of the exchange may carry the tokens.
    if (cause !== undefined)
      log.warn({ code, why: reasonsOf(cause) }, 'A sign-in through the provider failed')
    return redirect(`/sign-in?error=${code}`)
  }

  return { start, callback }
}

/** The address that the browser came back to, as the provider was told it. */
function answerOf(query: CallbackQuery, context: CallContext): URL {
  const url = new URL(originOf(context) + CALLBACK)
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) url.searchParams.set(name, value)
  return url
}

/** @throws 400 for what a browser could take for an address elsewhere */
function localPath(text: string, origin: string): string {
  const url = text.startsWith('/') ? URL.parse(text, origin) : null
  if (url === null || url.origin !== origin || url.pathname.startsWith('//'))
    throw invalidRequest('return_to is a path of this server', 'return_to')
  return url.pathname + url.search + url.hash
}

function redirect(location: string, cookie?: string): RawReply {
  const headers = {
    location,
    'cache-control': 'no-store',
    ...(cookie !== undefined && { 'set-cookie': cookie }),
  }
  return { status: 302, headers, body: '' }
}

/** The messages of an error and of what caused it. */
function reasonsOf(error: unknown): string[] {
  return error instanceof Error && error.cause instanceof Error
    ? [error.message, ...reasonsOf(error.cause)]
    : [messageOf(error)]
}
