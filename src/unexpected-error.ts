import { newId } from './ids.ts'
import type { Log } from './log.ts'

/** Logs an error that no code expects; returns the message for the client, with the id of the log line. */
export function logUnexpected(error: unknown, log: Pick<Log, 'error'>): string {
  const errorId = newId()
  log.error({ err: error, error_id: errorId }, 'unexpected error')
  return `Internal server error (${errorId})`
}
