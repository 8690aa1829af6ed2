import { QueryClient } from '@tanstack/react-query'
import { ApiError } from './client.ts'

/** How often what may still change is asked again, in milliseconds. */
export const LIVE_MS = 5_000

const RETRIES = 2
/** What a person did is tried a little longer: until it is noticed that the server is away, and everything waits. */
const CHANGE_RETRIES = 5
const RETRY_MS = 500

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
        retryDelay: RETRY_MS,
      },
      mutations: {
        // What did not reach the server is sent again; nothing else, since it may have been done.
        retry: (failures, error) =>
          failures < CHANGE_RETRIES && error instanceof ApiError && error.status === 0,
        retryDelay: RETRY_MS,
      },
    },
  })
}
