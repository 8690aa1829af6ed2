import { ClientError } from '../errors.ts'

/** The status that proxies log for a client that has disconnected; it reads no reply. */
const CLIENT_GONE = 499

/**
 * Whether an error says no more than that the client has disconnected: it is the reason of the request's signal or was
 * thrown for it. Another error may come after a disconnection as well, such as that of a store, and is still a failure.
 */
export function isClientGone(error: unknown, signal: AbortSignal): boolean {
  if (!signal.aborted) return false
  if (error === signal.reason) return true
  if (error instanceof ClientError && error.status === CLIENT_GONE) return true
  // Node and other libraries throw an error of this name, some of them without the reason.
  if (!(error instanceof Error)) return false
  return error.name === 'AbortError' || (error.cause !== undefined && isClientGone(error.cause, signal))
}
