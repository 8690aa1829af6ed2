import type { Route } from './route.ts'
import type { RefusalStatus } from './statuses.ts'

/** Every status that a route may refuse a request with: those of its kind, and those that it declares. */
export function refusalsOf(route: Route): RefusalStatus[] {
  if (route.unsupported) return [401, 403, 429, 501]
  const statuses = new Set<RefusalStatus>([503, ...(route.refusals ?? [])])
  if (route.access !== 'open' && route.access !== 'signed') for (const status of OF_KEYS) statuses.add(status)
  if (typeof route.access === 'object') for (const status of OF_RIGHTS) statuses.add(status)
  if (route.pathParams !== undefined) for (const status of OF_PATHS) statuses.add(status)
  if (route.query !== undefined) for (const status of OF_QUERIES) statuses.add(status)
  if (route.body !== undefined) for (const status of OF_BODIES) statuses.add(status)
  if (route.family === 'trace' && route.body !== undefined)
    for (const status of OF_NAMES) statuses.add(status)
  if (route.family === 'openai') for (const status of OF_MODELS) statuses.add(status)
  return [...statuses].sort((a, b) => a - b)
}

/** Keys may be invalid, may lack a right, and may be used too often, or for queries that are too large. */
const OF_KEYS = [401, 403, 413, 429] as const
/** What a key may not see looks like what does not exist, and a budget or a team's storage may be used up. */
const OF_RIGHTS = [402, 404] as const
const OF_PATHS = [404, 422] as const
const OF_QUERIES = [400, 422] as const
/** A body may come too slowly, be too large, or be compressed in a way that is not read. */
const OF_BODIES = [400, 408, 413, 415, 422] as const
/** Wire: the trace API names what a request is about in its body, and answers 403 for bad names and fields. */
const OF_NAMES = [403, 404] as const
const OF_MODELS = [404, 429] as const
