/** The identity of a person at a sign-in provider. */
export interface ProviderIdentity {
  issuer: string
  /** The provider's own id of the person, which is never given to another. */
  subject: string
}

/** As audit events have it: unlike the id alone, which may be short, it is no part of another text. */
export function identityText({ issuer, subject }: ProviderIdentity): string {
  return `${issuer} ${subject}`
}
