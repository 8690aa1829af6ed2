import type { GroupGrant, SingleSignOn } from '../../settings/single-sign-on.ts'
import type { ProviderIdentity } from '../identity/provider-identity.ts'
import type { Claims } from './provider.ts'

/** Who has signed in at the provider. */
export interface Person extends ProviderIdentity {
  /** In lower case; undefined where the provider has not verified that it is the person's. */
  email: string | undefined
  /** What a new user would be called, if that is a name and free. */
  wantedName: string
  grants: readonly GroupGrant[]
}

export function personIn(claims: Claims, { groupsClaim, groups }: SingleSignOn): Person {
  const email = textIn(claims, 'email')?.toLowerCase()
  const name = textIn(claims, 'preferred_username') ?? email ?? claims.sub
  const named = claims[groupsClaim]
  const belongsTo = (Array.isArray(named) ? named : [named]).filter((group) => typeof group === 'string')
  return {
    issuer: claims.iss,
    subject: claims.sub,
    // Some providers write it as text.
    email: [true, 'true'].some((yes) => claims['email_verified'] === yes) ? email : undefined,
    wantedName: name.split('@')[0] ?? name,
    grants: belongsTo.flatMap((group) => groups.get(group) ?? []),
  }
}

function textIn(claims: Claims, name: string): string | undefined {
  const value = claims[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}
