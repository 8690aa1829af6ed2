import { conflict } from '../errors.ts'

/**
 * A route that a server which accepts any key does not have: without users, keys would protect nothing, and limits of
 * them would not hold.
 */
export function withoutAccounts<Declared extends { handle: unknown }>(declared: Declared): Declared {
  return {
    ...declared,
    handle: () => {
      throw conflict('HEDDLE_AUTH=local accepts any key; a server with HEDDLE_AUTH=keys has users and keys')
    },
  }
}
