import { QueryClient } from '@tanstack/react-query'
import { ApiError } from './client.ts'

/** How often what may still change is asked again, in milliseconds. */
export const LIVE_MS = 5_000

const RETRIES = 2

/** What the caller did wrong stays wrong; what the network or the server did may pass. */
function mayPass(error: Error): boolean {
  return !(error instanceof ApiError) || error.status === 0 || error.status >= 500
}

/**
 * Query keys begin with the noun of the API and the project, as `['calls', 'entity/project', …]`: whoever changes calls
 * of a project invalidates that much of the key.
 */
export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: LIVE_MS,
        refetchOnWindowFocus: true,
        retry: (failures, error) => failures < RETRIES && mayPass(error),
        retryDelay: 500,
      },
    },
  })
}
