import { createRemoteJWKSet, customFetch, type RemoteJWKSet } from 'jose'
import { LRUCache } from 'lru-cache'
import { allowInsecureRequests, discovery, None, customFetch as providerFetch } from 'openid-client'
import { ClientError, dependencyFailed, invalidRequest } from '../../errors.ts'
import type { Outbound } from '../../outbound-http.ts'

/** Issuers whose keys are remembered. */
const ISSUERS_MAX = 1000

/**
 * How long an issuer's description is used; it says where the keys are, which are fetched again when a new one is used.
 */
const DESCRIPTION_MS = 3_600_000

/** A client waits ten seconds for an access token. */
const TIMEOUT_MS = 4000

/** Descriptions and key sets of known issuers have some kilobytes. */
const REPLY_BYTES_MAX = 256 * 1024

/** The public keys of issuers, fetched from them. */
export interface IssuerKeys {
  /** @throws 400 for an issuer that is never asked */
  check(issuer: string): void
  /** @throws 400 for an issuer that is not allowed, 503 for one that does not answer */
  of(issuer: string): Promise<RemoteJWKSet>
}

/** @param outbound asks public addresses, and the hosts that are configured for it, which may be unencrypted */
export function createIssuerKeys({ outbound }: { outbound: Outbound }): IssuerKeys {
  const known = new LRUCache<string, RemoteJWKSet>({
    max: ISSUERS_MAX,
    ttl: DESCRIPTION_MS,
    fetchMethod: describe,
  })

  async function describe(issuer: string): Promise<RemoteJWKSet> {
    const config = await discovery(new URL(issuer), 'heddle', undefined, None(), {
      timeout: TIMEOUT_MS / 1000,
      execute: outbound.isNamed(issuer) ? [allowInsecureRequests] : [],
      [providerFetch]: fetched,
    })
    const { jwks_uri } = config.serverMetadata()
    if (jwks_uri === undefined) throw new Error(`${issuer} names no jwks_uri`)
    check(jwks_uri)
    return createRemoteJWKSet(new URL(jwks_uri), { timeoutDuration: TIMEOUT_MS, [customFetch]: fetched })
  }

  /** The `fetch` of both libraries: no redirects, public addresses only, and a limited size. */
  async function fetched(url: string): Promise<Response> {
    const { signal } = new AbortController()
    const headers = { accept: 'application/json' }
    const limits = { timeoutMs: TIMEOUT_MS, replyBytesMax: REPLY_BYTES_MAX }
    const { status, text } = await outbound.get({ url, headers, signal, ...limits })
    return new Response(text, { status, headers: { 'content-type': 'application/json' } })
  }

  function check(url: string): void {
    const parsed = URL.parse(url)
    const mayBeAsked =
      parsed?.protocol === 'https:' || (parsed?.protocol === 'http:' && outbound.isNamed(url))
    if (!mayBeAsked) throw invalidRequest(`${url} is no https URL`, 'issuer')
    outbound.check(url)
  }

  async function of(issuer: string): Promise<RemoteJWKSet> {
    try {
      const keys = await known.fetch(issuer)
      if (keys !== undefined) return keys
    } catch (error) {
      throw clientErrorIn(error) ?? dependencyFailed(`The keys of ${issuer} could not be fetched`, error)
    }
    throw new Error('The fetch of an issuer was aborted')
  }

  return { check, of }
}

/** The refusal of `outbound`, which libraries wrap. */
function clientErrorIn(error: unknown): ClientError | undefined {
  if (error instanceof ClientError) return error
  return error instanceof Error && error.cause !== undefined ? clientErrorIn(error.cause) : undefined
}
