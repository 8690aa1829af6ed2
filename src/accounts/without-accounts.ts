import { conflict } from '../errors.ts'
import type { Route } from '../http/route.ts'

/**
 * A route that a server which accepts any key does not have: without users, keys would protect nothing, and limits of
 * them would not hold.
 */
export function withoutAccounts(declared: Route): Route {
  return {
    ...declared,
    refusals: [...(declared.refusals ?? []), 409],
    handle: () => {
      throw conflict('HEDDLE_AUTH=local accepts any key; a server with HEDDLE_AUTH=keys has users and keys')
    },
  }
}
