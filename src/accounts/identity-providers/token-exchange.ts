import { createLocalJWKSet, decodeJwt, errors, type JSONWebKeySet, type JWTPayload, jwtVerify } from 'jose'
import { z } from 'zod'
import { ClientError, dependencyFailed, messageOf } from '../../errors.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import type { Audit } from '../audit/service.ts'
import { ACCESS_TOKEN_SECONDS, type AccessTokens } from './access-tokens.ts'
import { type Conditions, fits } from './claim-conditions.ts'
import type { IssuerKeys } from './issuer-keys.ts'
import { type IdentityProviderRow, listForToken } from './queries.ts'
import { TokenReq, type TokenRes } from './wire.ts'

const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

/** Clocks of machines that keep time by NTP differ by less. */
const CLOCK_TOLERANCE_SECONDS = 30

/** Signatures that only the issuer can make; others would make a public key a secret. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
]

/** Issuers write one or two; each is a value of a statement. */
const AUDIENCES_MAX = 50

/** No address has a NUL, which PostgreSQL refuses in a text. */
const Name = z.string().refine((text) => !text.includes('\0'))

const Names = z.object({ iss: Name, aud: z.union([Name, z.array(Name).min(1).max(AUDIENCES_MAX)]) })

/** Exchanges identity tokens of machines for access tokens of this server. */
export interface TokenExchange {
  /**
   * Wire: the body is a form, as RFC 7523 defines it.
   * @throws 400 with an OAuth error for a token that no team trusts, 503 where the keys of its issuer cannot be fetched
   */
  exchange(req: { bytes: Uint8Array }): Promise<TokenRes>
}

export interface TokenExchangeDeps {
  control: ControlDb
  issuerKeys: Pick<IssuerKeys, 'of'>
  accessTokens: Pick<AccessTokens, 'issue' | 'callerBy'>
  audit: Audit
}

export function createTokenExchange(deps: TokenExchangeDeps): TokenExchange {
  const { control, issuerKeys, accessTokens, audit } = deps

  async function exchange({ bytes }: { bytes: Uint8Array }): Promise<TokenRes> {
    const assertion = assertionIn(bytes)
    const provider = await providerFor(assertion)
    const { iss, sub } = await verified(assertion, provider)
    const caller = await accessTokens.callerBy(provider)
    if (caller === undefined)
      throw refused('The service account is disabled, or does not belong to the team any more')
    const { entity } = provider
    const details = { issuer: iss, subject: sub }
    await audit.record(caller, { action: 'access_token.create', entity, subject: caller.user, details })
    const access_token = accessTokens.issue(provider)
    return { access_token, token_type: 'Bearer', expires_in: ACCESS_TOKEN_SECONDS }
  }

  /** The first that fits what a token says, which is not verified yet: only keys of trusted issuers are looked at. */
  async function providerFor(token: string): Promise<IdentityProviderRow> {
    const claims = claimsIn(token)
    const { issuer, audiences } = namesIn(claims)
    const rows = await listForToken(control, { issuer, audiences })
    if (rows.length === 0)
      throw refused(`No team here trusts ${issuer} for the audience ${audiences.join(', ')}`)
    if (new Set(rows.map(({ entity }) => entity)).size > 1)
      throw refused('The audiences of the identity token are those of several teams')
    // Written by this folder's service from checked values.
    const provider = rows.find((row) => fits(claims, JSON.parse(row.claims) as Conditions))
    if (provider === undefined)
      throw refused('The claims of the identity token fit no identity provider here')
    return provider
  }

  /** The claims of a token, once its signature, issuer, audience and times are known to be right. */
  async function verified(token: string, provider: IdentityProviderRow): Promise<JWTPayload> {
    const { issuer, audience, jwks } = provider
    const options = {
      issuer,
      audience,
      algorithms: ALGORITHMS,
      requiredClaims: ['exp', 'sub'],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
    }
    try {
      // As above.
      const own = jwks === null ? undefined : createLocalJWKSet(JSON.parse(jwks) as JSONWebKeySet)
      return (await jwtVerify(token, own ?? (await issuerKeys.of(issuer)), options)).payload
    } catch (error) {
      if (error instanceof ClientError) throw error
      if (isOfIssuer(error)) throw dependencyFailed(`The keys of ${issuer} could not be fetched`, error)
      throw refused(`The identity token is not valid: ${messageOf(error)}`)
    }
  }

  return { exchange }
}

/** Whether it was the issuer that did not answer, or not with keys. */
function isOfIssuer(error: unknown): boolean {
  return (
    error instanceof errors.JWKSTimeout ||
    error instanceof errors.JWKSInvalid ||
    (error instanceof errors.JOSEError && error.code === errors.JOSEError.code)
  )
}

function assertionIn(bytes: Uint8Array): string {
  const form = Object.fromEntries(new URLSearchParams(Buffer.from(bytes).toString('utf8')))
  const parsed = TokenReq.safeParse(form)
  if (!parsed.success) throw oauthError('invalid_request', 'Send a form with grant_type and assertion')
  if (parsed.data.grant_type !== GRANT_TYPE)
    throw oauthError('unsupported_grant_type', `The grant_type is ${GRANT_TYPE}`)
  return parsed.data.assertion
}

function claimsIn(token: string): JWTPayload {
  try {
    return decodeJwt(token)
  } catch (error) {
    throw refused(`The identity token is no JWT: ${messageOf(error)}`)
  }
}

/**
 * The issuer and the audiences of a token that is not verified yet. They become values of a query, so their types are
 * checked.
 */
function namesIn(claims: JWTPayload): { issuer: string; audiences: string[] } {
  const parsed = Names.safeParse(claims)
  if (!parsed.success)
    throw refused(`The identity token needs "iss", a text, and "aud", a text or at most ${AUDIENCES_MAX}`)
  const { iss: issuer, aud } = parsed.data
  return { issuer, audiences: [aud].flat() }
}

function refused(message: string): ClientError {
  return oauthError('invalid_grant', message)
}

/** As RFC 6749 writes errors. Wire: clients show the whole body. */
function oauthError(error: string, message: string): ClientError {
  return new ClientError(400, 'BadRequestError', message, { extra: { error, error_description: message } })
}
