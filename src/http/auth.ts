import { createHash } from 'node:crypto'
import { unauthorized } from '../errors.ts'
import type { Caller } from './caller.ts'

/** The one user and entity of local mode. */
const LOCAL_NAME = 'local'

/** Turns an Authorization header into a caller. @throws 401 without a key. */
export type Authenticate = (authorization: string | undefined) => Caller

/** Local mode: any non-empty key is the local user. */
export function authenticateLocally(authorization: string | undefined): Caller {
  const key = keyOf(authorization)
  if (key === undefined) throw unauthorized()
  return { user: LOCAL_NAME, defaultEntity: LOCAL_NAME, keyId: keyIdOf(key) }
}

/** Long enough that two keys of one server do not share an id. */
const KEY_ID_CHARS = 16

function keyIdOf(key: string): string {
  return createHash('sha256').update(key).digest('hex').slice(0, KEY_ID_CHARS)
}

/** Wire: W&B clients send Basic auth with user "api"; OpenAI-shaped clients send a bearer token. */
function keyOf(authorization: string | undefined): string | undefined {
  const [scheme, credentials] = (authorization ?? '').trim().split(/\s+/, 2)
  if (scheme === undefined || credentials === undefined) return undefined
  if (scheme.toLowerCase() === 'bearer') return credentials
  if (scheme.toLowerCase() !== 'basic') return undefined
  const decoded = Buffer.from(credentials, 'base64').toString('utf8')
  const key = decoded.slice(decoded.indexOf(':') + 1)
  return key === '' ? undefined : key
}
