import { LRUCache } from 'lru-cache'
import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  ClientError,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  calculatePKCECodeChallenge,
  clockTolerance,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  None,
} from 'openid-client'
import type { SingleSignOn } from '../../settings/single-sign-on.ts'
import type { Attempt } from './attempt.ts'
import { SignInError } from './sign-in-error.ts'

/** A person waits for each request to the provider. */
const TIMEOUT_SECONDS = 10

/** Clocks of machines that keep time by NTP differ by less. */
const CLOCK_TOLERANCE_SECONDS = 30

/** How long the provider's description is used; providers change it rarely, and announce new keys apart from it. */
const DESCRIPTION_MS = 3_600_000

/** What the provider says about a person. */
export type Claims = Record<string, unknown> & { iss: string; sub: string }

/** The sign-in provider. */
export interface Provider {
  /** Where a browser is sent to sign in. @throws SignInError */
  authorizationUrl(attempt: Attempt, redirectUri: string): Promise<URL>
  /**
   * Exchanges the code of an answer for what the provider says about the person, which is signed by it.
   * @param answer the address that the browser came back to
   * @throws SignInError
   */
  redeem(answer: URL, attempt: Attempt): Promise<Claims>
}

export function createProvider({ issuer, clientId, clientSecret, scopes }: SingleSignOn): Provider {
  const url = new URL(issuer)
  const descriptions = new LRUCache<string, Configuration>({
    max: 1,
    ttl: DESCRIPTION_MS,
    fetchMethod: async () => {
      const metadata = { [clockTolerance]: CLOCK_TOLERANCE_SECONDS }
      // The settings allow an unencrypted issuer on this machine alone.
      const insecure = url.protocol === 'http:' ? [allowInsecureRequests] : []
      return discovery(url, clientId, metadata, authenticationBy(clientSecret), {
        timeout: TIMEOUT_SECONDS,
        execute: [enableNonRepudiationChecks, ...insecure],
      })
    },
  })

  async function described(): Promise<Configuration> {
    const known = await descriptions.fetch(issuer).catch((error: unknown) => {
      throw new SignInError('unavailable', error)
    })
    if (known === undefined) throw new SignInError('unavailable')
    return known
  }

  async function authorizationUrl({ state, nonce, verifier }: Attempt, redirect_uri: string): Promise<URL> {
    const code_challenge = await calculatePKCECodeChallenge(verifier)
    const parameters = {
      redirect_uri,
      scope: scopes,
      state,
      nonce,
      code_challenge,
      code_challenge_method: 'S256',
    }
    return buildAuthorizationUrl(await described(), parameters)
  }

  async function claimsIn(answer: URL, { state, nonce, verifier }: Attempt): Promise<Claims> {
    const config = await described()
    const tokens = await authorizationCodeGrant(config, answer, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    })
    const claims = tokens.claims()
    if (claims === undefined) throw new SignInError('invalid')
    // Many providers give mail addresses and groups there alone.
    const hasMore = config.serverMetadata().userinfo_endpoint !== undefined
    const more = hasMore ? await fetchUserInfo(config, tokens.access_token, claims.sub) : {}
    return { ...claims, ...more, iss: claims.iss, sub: claims.sub }
  }

  return {
    authorizationUrl,
    redeem: (answer, attempt) =>
      claimsIn(answer, attempt).catch((error: unknown) => {
        throw error instanceof SignInError ? error : new SignInError(codeOf(error), error)
      }),
  }
}

/** As the provider asks for it; RFC 8414 makes Basic the one that all have. */
function authenticationBy(secret: string | undefined): ClientAuth {
  if (secret === undefined) return None()
  const [basic, post] = [ClientSecretBasic(secret), ClientSecretPost(secret)]
  return (server, ...request) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    return (methods.includes('client_secret_basic') ? basic : post)(server, ...request)
  }
}

/** Codes of openid-client for a provider that does not answer, or not as one. */
const UNAVAILABLE = ['OAUTH_TIMEOUT', 'OAUTH_ABORT', 'OAUTH_RESPONSE_IS_NOT_CONFORM']

function codeOf(error: unknown): 'denied' | 'unavailable' | 'clock' | 'invalid' {
  if (error instanceof AuthorizationResponseError)
    return error.error === 'access_denied' ? 'denied' : 'invalid'
  // `fetch` reports that a connection failed so.
  if (error instanceof TypeError) return 'unavailable'
  if (!(error instanceof ClientError)) return 'invalid'
  if (error.code === 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED') return 'clock'
  return UNAVAILABLE.includes(error.code ?? '') ? 'unavailable' : 'invalid'
}
