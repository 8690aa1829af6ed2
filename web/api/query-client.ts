import { QueryClient } from '@tanstack/react-query'
import { ApiError } from './client.ts'

/** Polling interval of data that may still change, in milliseconds. */
export const LIVE_MS = 5_000

const RETRIES = 2
/** Writes are retried a little longer: until the server is known to be unreachable, and all requests wait. */
const CHANGE_RETRIES = 5
const RETRY_MS = 500

/** Errors of the caller are permanent; errors of the network or the server may pass. */
function mayPass(error: Error): boolean {
  return !(error instanceof ApiError) || error.status === 0 || error.status >= 500
}

/**
 * Query keys begin with the noun of the API and the project, as `['calls', 'entity/project', …]`: a change of a
 * project's calls invalidates that prefix of the key.
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
        // A write without an answer may have been applied: only what does nothing more by that is repeated.
        retry: (failures, error) =>
          failures < CHANGE_RETRIES && error instanceof ApiError && error.status === 0 && error.isRepeatable,
        retryDelay: RETRY_MS,
      },
    },
  })
}
