import { invalidRequest } from '../errors.ts'

/** SQLite takes 32,766 values in one statement. */
export const LISTED_NAMES_MAX = 4_000

/** Checks a list of names to look for. @throws 400 for too many. */
export function checkListed(names: readonly unknown[]): void {
  if (names.length > LISTED_NAMES_MAX)
    throw invalidRequest(`Ask for ${LISTED_NAMES_MAX} names at once at most, not ${names.length}`)
}
