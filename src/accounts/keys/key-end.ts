import type { Caller } from '../../http/caller.ts'

/** The earlier of a wanted end and that of the caller's key: what is made with a key does not outlive it. */
export function endWithKey<Wanted extends string | undefined>(
  wanted: Wanted,
  { keyEndsAt }: Pick<Caller, 'keyEndsAt'>,
): Wanted | string {
  const isEarlier = keyEndsAt === undefined || (wanted !== undefined && wanted < keyEndsAt)
  return isEarlier ? wanted : keyEndsAt
}
