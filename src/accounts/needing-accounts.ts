import { conflict } from '../errors.ts'
import type { Route } from '../http/route.ts'

/**
 * Routes that a server which accepts any key refuses with 409: without users, keys would protect nothing, and limits of
 * them would not hold.
 */
export function needingAccounts(routes: readonly Route[], auth: 'local' | 'keys'): Route[] {
  return routes.map((declared) => ({
    ...declared,
    refusals: [...(declared.refusals ?? []), 409],
    ...(auth === 'local' && { handle: refuse }),
  }))
}

function refuse(): never {
  throw conflict('HEDDLE_AUTH=local accepts any key; a server with HEDDLE_AUTH=keys has users and keys')
}
