import { createHash } from 'node:crypto'
import { ALL_RIGHTS } from '../access.ts'
import { unauthorized } from '../errors.ts'
import type { Caller } from './caller.ts'

/** The one user and entity of local mode. */
const LOCAL_NAME = 'local'

/** What a request shows to say who sends it. */
export interface Credentials {
  key: string | undefined
  /** Of a browser, from its cookie; only where the request comes from a page of this server. */
  session: string | undefined
  /** For whom that page was loaded; absent where it cannot know. */
  pageUser?: string | undefined
}

/** Finds out who sends a request. */
export interface Authenticator {
  /** @throws 401 without valid credentials, and for a session of another user than the page's. */
  callerOf(shown: Credentials): Promise<Caller>
  /** Who requests without a key are from, on routes that need none. */
  anonymous: Caller
}

const LOCAL: Omit<Caller, 'keyId'> = { user: LOCAL_NAME, defaultEntity: LOCAL_NAME, rights: ALL_RIGHTS }

/** Local mode: any non-empty key is the local user. */
export const LOCAL_AUTHENTICATOR: Authenticator = {
  async callerOf({ key }) {
    if (key === undefined) throw unauthorized()
    return { ...LOCAL, keyId: keyIdOf(key) }
  },
  anonymous: { ...LOCAL, keyId: '' },
}

/** Long enough that two keys of one server do not share an id. */
const KEY_ID_CHARS = 16

function keyIdOf(key: string): string {
  return createHash('sha256').update(key).digest('hex').slice(0, KEY_ID_CHARS)
}

/** The cookie of a browser that has signed in. */
export const SESSION_COOKIE = 'heddle_session'

/**
 * A header that pages of this server send with each request. A page of another site cannot make a browser send it, so
 * a cookie alone, which a browser sends by itself, is not enough to act for its user.
 */
export const PAGE_HEADER = 'x-heddle-page'

/**
 * The header in which pages of this server name the user whom they were loaded for. A sign-in in one tab gives all tabs
 * of a browser the session of another user, in whose name they must do nothing.
 */
const PAGE_USER_HEADER = 'x-heddle-user'

/** Wire: exporters of OpenTelemetry that send spans to W&B have the second. */
const KEY_HEADERS = ['x-api-key', 'wandb-api-key']

/**
 * Wire: W&B clients send Basic auth with user "api"; OpenAI-shaped clients send a bearer token, others one of
 * {@link KEY_HEADERS}.
 */
export function credentialsOf(headers: Headers): Credentials {
  return {
    key: keyIn(headers.get('authorization')) ?? bareKeyIn(headers),
    session: headers.has(PAGE_HEADER) ? cookieIn(headers.get('cookie'), SESSION_COOKIE) : undefined,
    pageUser: headers.get(PAGE_USER_HEADER) ?? undefined,
  }
}

function keyIn(authorization: string | null): string | undefined {
  const [scheme, credentials] = (authorization ?? '').trim().split(/\s+/, 2)
  if (scheme === undefined || credentials === undefined) return undefined
  if (scheme.toLowerCase() === 'bearer') return credentials
  if (scheme.toLowerCase() !== 'basic') return undefined
  const decoded = Buffer.from(credentials, 'base64').toString('utf8')
  const key = decoded.slice(decoded.indexOf(':') + 1)
  return key === '' ? undefined : key
}

function bareKeyIn(headers: Headers): string | undefined {
  return KEY_HEADERS.map((name) => headers.get(name)?.trim()).find(Boolean)
}

function cookieIn(header: string | null, name: string): string | undefined {
  for (const part of (header ?? '').split(';')) {
    const [key, value] = part.trim().split('=', 2)
    if (key === name && value) return value
  }
  return undefined
}
