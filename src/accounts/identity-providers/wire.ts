import { z } from 'zod'

/** Each token is compared with these; a team has some tens of workflows. */
const PROVIDERS_MAX = 50

/** Of issuers, audiences, names of claims and patterns, which people write. */
const CHARS_MAX = 512

/** An issuer announces some keys, of at most a kilobyte each. */
const KEYS_MAX = 20

const Text = z.string().min(1).max(CHARS_MAX)

const Claims = z
  .record(Text, Text)
  .refine((claims) => Object.values(claims).some((pattern) => /[^*]/.test(pattern)), {
    error: 'at least one claim has a value: issuers give tokens to others too',
  })
  .meta({
    description:
      'Values that claims must have, where * stands for any text, such as {"sub": "repo:acme/loom:ref:refs/heads/*"}',
    examples: [{ sub: 'repo:acme/loom:ref:refs/heads/main' }],
  })

/** Public keys, as RFC 7517 writes them; it allows members that readers do not know. */
const Jwks = z.looseObject({
  keys: z.array(z.looseObject({ kty: z.enum(['RSA', 'EC', 'OKP']) })).max(KEYS_MAX),
})

export const IdentityProvider = z
  .strictObject({
    issuer: Text.meta({ description: 'A URL, exactly as in the claim "iss" of the tokens' }),
    audience: Text.meta({
      description: 'In the claim "aud"; only one team trusts an issuer for an audience',
    }),
    claims: Claims,
    service_account: z.string().meta({ description: 'The user for programs whom the tokens stand for' }),
    jwks: Jwks.nullish().meta({
      description: "The issuer's public keys; fetched from the issuer where they are not given",
    }),
  })
  .meta({ id: 'IdentityProvider' })
export type IdentityProvider = z.output<typeof IdentityProvider>

export const EntityPath = z.object({ entity: z.string() })
export type EntityPath = z.output<typeof EntityPath>

export const IdentityProvidersReq = z.strictObject({ data: z.array(IdentityProvider).max(PROVIDERS_MAX) })
export type IdentityProvidersReq = z.output<typeof IdentityProvidersReq>

export const IdentityProvidersRes = IdentityProvidersReq.meta({ id: 'IdentityProviders' })
export type IdentityProvidersRes = z.input<typeof IdentityProvidersRes>

/** Wire: what clients send to exchange an identity token (RFC 7523). */
export const TokenReq = z.object({
  grant_type: z.string(),
  assertion: z.string().meta({ description: 'The identity token, a JWT' }),
})

/** Wire: clients read `access_token` and `expires_in`, and keep all of it in a file. */
export const TokenRes = z
  .object({
    access_token: z.string(),
    token_type: z.literal('Bearer'),
    expires_in: z.int().meta({ description: 'Seconds' }),
  })
  .meta({ id: 'AccessToken' })
export type TokenRes = z.input<typeof TokenRes>
