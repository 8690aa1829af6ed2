import { createHash } from 'node:crypto'
import type { List } from './list.ts'

/** Lists that are remembered, some hundred bytes each. */
const ASKED_MAX = 10_000

/** Remembers which lists were asked for lately. */
export function createAskedLists() {
  const asked = new Set<string>()
  return {
    /** Whether the list was asked for before; from now on it was. */
    again({ req }: Pick<List, 'req'>): boolean {
      const key = createHash('sha256').update(JSON.stringify(req)).digest('base64')
      const isAgain = asked.delete(key)
      asked.add(key)
      for (const oldest of asked) {
        if (asked.size <= ASKED_MAX) break
        asked.delete(oldest)
      }
      return isAgain
    },
  }
}
