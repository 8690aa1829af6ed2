import { ClickHouseError } from '@clickhouse/client'
import { ClientError, dependencyFailed, invalidRequest, messageOf, unavailable } from '../../../errors.ts'

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

/** ClickHouse's code of an error that it answered with: https://github.com/ClickHouse/ClickHouse/blob/master/src/Common/ErrorCodes.cpp */
export function codeOf(error: unknown): number | undefined {
  return error instanceof ClickHouseError ? Number(error.code) : undefined
}

/** The error of a failed query: 400 where the query itself is too large, and 503 otherwise. */
export function readError(error: unknown): ClientError {
  if (error instanceof ClientError) return error
  const [code, message] = [codeOf(error) ?? 0, messageOf(error)]
  const refused = (text: string): ClientError => Object.assign(invalidRequest(text), { cause: error })
  if (TOO_COMPLEX_CODES.includes(code) || TOO_COMPLEX.test(message))
    return refused('The query is too complex: ask with fewer or shorter conditions')
  if (code === MEMORY_LIMIT_EXCEEDED && OF_ONE_QUERY.test(message))
    return refused('The query needs more memory than one may have: ask for less, with limit and filter')
  if (code === TIMEOUT_EXCEEDED) return tookTooLong(error)
  return dependencyFailed('The trace database could not answer', error)
}

/** 503 for a query that was ended. */
export function tookTooLong(cause?: unknown): ClientError {
  const text = 'The query took too long and was ended: ask for less, with limit and filter, or later'
  return Object.assign(unavailable(text), { cause })
}
