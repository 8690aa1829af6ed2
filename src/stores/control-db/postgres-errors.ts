import pg from 'pg'
import { ClientError, StoreFailed } from '../../errors.ts'
import { UniqueViolation } from './port.ts'
import { textRefused } from './text-refused.ts'

/** Codes of PostgreSQL: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const UNIQUE = '23505'
/** A text with U+0000, which PostgreSQL has no place for. */
const UNTRANSLATABLE = '22021'

/**
 * The server, not the statement, is at fault: connections (08), transactions that another one ended (40), resources (53),
 * locks and states (55), operators (57), the machine (58); a transaction that was left open too long (25P03); a server that only
 * reads, such as the old primary after a failover (25006).
 */
const SERVER = /^(08|40|53|55|57|58|25P03|25006)/

/** An error of PostgreSQL or of the connection to it, as the port defines it. */
export function postgresError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof ClientError) return error
  // Errors of sockets and of the pool have no class of their own.
  if (!(error instanceof pg.DatabaseError)) return unanswered(error)
  if (error.code === UNIQUE) return new UniqueViolation(error)
  if (error.code === UNTRANSLATABLE) return textRefused()
  return SERVER.test(error.code ?? '') ? unanswered(error) : error
}

/** 503: nothing was stored. */
export function unanswered(cause: unknown): ClientError {
  return new StoreFailed('The control database does not answer, so nothing was stored', cause)
}
