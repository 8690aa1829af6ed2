import pg from 'pg'
import { ClientError, StoreFailed } from '../../errors.ts'
import { UniqueViolation } from './port.ts'
import { textRefused } from './text-refused.ts'

/** Codes of PostgreSQL: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const UNIQUE = '23505'
/** A text with U+0000, which PostgreSQL has no place for. */
const UNTRANSLATABLE = '22021'

/** A lock was not had in time. */
const LOCK_TIMEOUT = '55P03'
/** A statement took longer than it may, or an operator ended it. */
const CANCELED = '57014'
/** A server that only reads, such as the old primary after a failover. */
const READ_ONLY = '25006'

/**
 * The server, not the statement, is at fault: connections (08), transactions that another one ended (40), resources
 * (53), locks and states (55), operators (57), the machine (58); a transaction that was left open too long (25P03).
 */
const SERVER = /^(08|40|53|55|57|58|25P03)/

/** An error of PostgreSQL or of the connection to it, as the port defines it. */
export function postgresError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof ClientError) return error
  // Errors of sockets and of the pool have no class of their own.
  if (!(error instanceof pg.DatabaseError)) return unanswered(error)
  if (error.code === UNIQUE) return new UniqueViolation(error)
  if (error.code === UNTRANSLATABLE) return textRefused()
  if (error.code === LOCK_TIMEOUT) return busy(error)
  if (error.code === CANCELED)
    return new StoreFailed(
      'The control database took too long, or its operator ended the statement, so nothing was stored',
      error,
    )
  if (isReadOnly(error)) return new StoreFailed(ONLY_READS, error)
  return SERVER.test(error.code ?? '') ? unanswered(error) : error
}

/** What is wrong with a server that takes no writes. */
export const ONLY_READS = 'The control database can be read only, so nothing was stored'

/** Whether the server takes no writes. */
export function isReadOnly(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === READ_ONLY
}

/** 503: writers before this one, here or on other servers, took all the time that it waits. */
export function busy(cause: unknown): ClientError {
  return new StoreFailed('The control database is busy with other writes, so nothing was stored', cause)
}

/** 503: nothing was stored. */
export function unanswered(cause: unknown): ClientError {
  return new StoreFailed('The control database does not answer, so nothing was stored', cause)
}
