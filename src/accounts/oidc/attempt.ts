import { z } from 'zod'
import type { CallContext } from '../../http/caller.ts'
import type { SecretKey } from '../../stores/secret-key.ts'
import { cookieIn, cookieText } from '../cookies.ts'

/** Long enough to type a password and confirm it with a second device. */
const ATTEMPT_SECONDS = 15 * 60

export const ATTEMPT_MS = ATTEMPT_SECONDS * 1000

const COOKIE = 'heddle_oidc'

/** Only the routes of this folder get it. */
const COOKIE_PATH = '/v1/accounts/oidc'

const Attempt = z.object({
  /** Tells the cookie's text from others that the server seals. */
  kind: z.literal('oidc-attempt'),
  /** Comes back from the provider, and binds its answer to this browser. */
  state: z.string(),
  /** Comes back in the ID token, and binds it to this attempt. */
  nonce: z.string(),
  /** Of PKCE: without it, a stolen code is of no use. */
  verifier: z.string(),
  returnTo: z.string(),
  /** Milliseconds since 1970. */
  expiresAt: z.number(),
})

/** A sign-in that a browser has begun. */
export type Attempt = Omit<z.output<typeof Attempt>, 'kind' | 'expiresAt'>

/**
 * The cookie that keeps an attempt in the browser that began it, sealed. The server itself keeps nothing, so that
 * many attempts fill no table.
 */
export function attemptCookie(secretKey: SecretKey, attempt: Attempt, context: CallContext): string {
  const whole: z.output<typeof Attempt> = {
    ...attempt,
    kind: 'oidc-attempt',
    expiresAt: Date.now() + ATTEMPT_MS,
  }
  const value = secretKey.seal(JSON.stringify(whole))
  return cookieText({ name: COOKIE, value, seconds: ATTEMPT_SECONDS, path: COOKIE_PATH }, context)
}

/** The attempt of the browser that sends a request; undefined where there is none, or it has expired. */
export function attemptIn(secretKey: SecretKey, context: CallContext): Attempt | undefined {
  const sealed = cookieIn(context, COOKIE)
  const attempt = sealed === undefined ? undefined : unsealed(secretKey, sealed)
  return attempt !== undefined && attempt.expiresAt > Date.now() ? attempt : undefined
}

function unsealed(secretKey: SecretKey, sealed: string) {
  try {
    return Attempt.parse(JSON.parse(secretKey.unseal(sealed)))
  } catch {
    // Changed, or of another server on the same host.
    return undefined
  }
}
