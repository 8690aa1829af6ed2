import { ClickHouseError } from '@clickhouse/client'
import {
  ClientError,
  dependencyFailed,
  invalidRequest,
  messageOf,
  StoreFailed,
  tooLarge,
  unavailable,
} from '../../../errors.ts'
import type { QueryLimits } from '../../../query-limits.ts'

/**
 * Errors of a query that are caused by its size, however often it is repeated: TOO_DEEP_AST, TOO_BIG_AST,
 * TOO_DEEP_RECURSION, TOO_LARGE_STRING_SIZE, TOO_LARGE_ARRAY_SIZE.
 */
const TOO_COMPLEX_CODES = [167, 168, 306, 131, 128]

/** Two that have codes for much else. */
const TOO_COMPLEX = /Max query size exceeded|Query tree is too big/

const MEMORY_LIMIT_EXCEEDED = 241

/** One query alone exceeds its limit; `(total)` would mean all queries together. */
const OF_ONE_QUERY = /Query memory limit exceeded/i

const TIMEOUT_EXCEEDED = 159

/** Of a query that would read more rows than its `max_rows_to_read`. */
const TOO_MANY_ROWS = 158

/**
 * ClickHouse's code of an error that it answered with:
 * https://github.com/ClickHouse/ClickHouse/blob/master/src/Common/ErrorCodes.cpp
 */
export function codeOf(error: unknown): number | undefined {
  return error instanceof ClickHouseError ? Number(error.code) : undefined
}

/**
 * The error of a failed query: 400 where the query itself is too large, 413 where it exceeds a limit of its request,
 * and 503 otherwise.
 */
export function readError(error: unknown, limits?: QueryLimits): ClientError {
  if (error instanceof ClientError) return error
  const [code, message] = [codeOf(error) ?? 0, messageOf(error)]
  const refused = (text: string): ClientError => Object.assign(invalidRequest(text), { cause: error })
  if (TOO_COMPLEX_CODES.includes(code) || TOO_COMPLEX.test(message))
    return refused('The query is too complex: ask with fewer or shorter conditions')
  if (code === MEMORY_LIMIT_EXCEEDED && OF_ONE_QUERY.test(message))
    return refused('The query needs more memory than one may have: ask for less, with limit and filter')
  if (code === TOO_MANY_ROWS && limits !== undefined) {
    const { whose, rowsMax } = limits
    const text = `The query looks through more rows than the ${rowsMax} that the limit of ${whose} allows`
    return Object.assign(tooLarge(`${text}: ${ASK_LESS}`), { cause: error })
  }
  if (code === TIMEOUT_EXCEEDED) return Object.assign(tookTooLong({}), { cause: error })
  const text = 'The trace database could not answer'
  // Where it answered with an error, it may do so each time.
  return codeOf(error) === undefined ? new StoreFailed(text, error) : dependencyFailed(text, error)
}

const ASK_LESS = 'ask for less, with limit and filter'

/** 503 for a query that was ended, or 413 where that was by a limit of its request. */
export function tookTooLong({ whose, msMax = 0 }: Partial<QueryLimits>): ClientError {
  if (whose === undefined) return unavailable(`The query took too long and was ended: ${ASK_LESS}, or later`)
  const text = `The query took longer than the ${msMax / 1000} s that the limit of ${whose} allows`
  return tooLarge(`${text}: ${ASK_LESS}`)
}
