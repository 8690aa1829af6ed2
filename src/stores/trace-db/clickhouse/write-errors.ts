import { ClientError, StoreFailed, unavailable } from '../../../errors.ts'
import { codeOf } from './read-errors.ts'

/**
 * CANNOT_FSYNC, NOT_ENOUGH_SPACE, CANNOT_WRITE_TO_FILE_DESCRIPTOR, a failed rename, a table that is being opened again.
 */
const OF_THE_DISK = [204, 243, 75, 1001, 60]

/** TIMEOUT_EXCEEDED, TOO_MANY_SIMULTANEOUS_QUERIES, MEMORY_LIMIT_EXCEEDED, TOO_MANY_PARTS. */
const OF_THE_LOAD = [159, 202, 241, 252]

/** The server is ending. */
const ABORTED = 236

/**
 * Of replicas, of which too few answer or none takes writes: SOCKET_TIMEOUT, NETWORK_ERROR, NO_ZOOKEEPER,
 * TABLE_IS_READ_ONLY, ALL_CONNECTION_TRIES_FAILED, TOO_FEW_LIVE_REPLICAS, UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE,
 * UNKNOWN_STATUS_OF_INSERT, KEEPER_EXCEPTION.
 */
const OF_REPLICAS = [209, 210, 225, 242, 279, 285, 286, 319, 999]

/** UNKNOWN_DATABASE, UNKNOWN_USER, WRONG_PASSWORD, REQUIRED_PASSWORD, ACCESS_DENIED, AUTHENTICATION_FAILED. */
const OF_ACCESS = [81, 192, 193, 194, 497, 516]

/**
 * The error of a failed write: 503 where it is not the rows' fault, so that clients repeat it, and the rows that share
 * its commit are not tried one by one. Others stay what they are.
 */
export function writeError(error: unknown): unknown {
  if (error instanceof ClientError) return error
  const code = codeOf(error)
  if (code === undefined || code === ABORTED)
    return new StoreFailed('The trace database ended, so what was sent may not be stored', error)
  if (OF_THE_DISK.includes(code)) return diskFails(error)
  if (OF_THE_LOAD.includes(code))
    return Object.assign(unavailable('The trace database has too much to do'), { cause: error })
  if (OF_REPLICAS.includes(code))
    return new StoreFailed(
      'Too few replicas of the trace database answer, so what was sent may not be stored',
      error,
    )
  if (OF_ACCESS.includes(code)) return new StoreFailed('The trace database refuses its user', error)
  return error
}

export function diskFails(cause: unknown): ClientError {
  return new StoreFailed('The disk of the trace database fails, so nothing may have been stored', cause)
}
