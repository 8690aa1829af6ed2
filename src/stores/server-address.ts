/** Parts of addresses such as `postgres://user:password@host:5432/database`. */

/** The host, of IPv6 without brackets. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}

/** A user, a password or a database. @throws Error for a `%` that stands for itself */
export function decodedPart(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw new Error('% in user, password or database is written %25')
  }
}
