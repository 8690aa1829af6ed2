import { LRUCache } from 'lru-cache'
import { bytesDigest } from '../digest.ts'
import type { List } from './list.ts'

/** Lists that are remembered, some hundred bytes each. */
const ASKED_MAX = 10_000

/** Remembers which lists were asked for lately. */
export function createAskedLists() {
  const asked = new LRUCache<string, true>({ max: ASKED_MAX })
  return {
    /** Whether the list was asked for before; from now on it was. */
    again({ req }: Pick<List, 'req'>): boolean {
      const key = bytesDigest(JSON.stringify(req))
      const isAgain = asked.has(key)
      asked.set(key, true)
      return isAgain
    },
  }
}
