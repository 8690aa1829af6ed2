import { type ClientError, dependencyFailed, invalidRequest, messageOf, unavailable } from '../../errors.ts'

/**
 * Errors of a query that are caused by its size, however often it is repeated: TOO_DEEP_AST, TOO_BIG_AST,
 * TOO_DEEP_RECURSION, TOO_LARGE_STRING_SIZE, TOO_LARGE_ARRAY_SIZE, and two that have codes for much else.
 */
const TOO_COMPLEX = /Code: (167|168|306|131|128)\b|Max query size exceeded|Query tree is too big/

/** One query alone exceeds its limit; `(total)` would mean all queries together. */
const TOO_MUCH_MEMORY = /Code: 241\b.*Query memory limit exceeded/is

const TIMED_OUT = /Code: 159\b/

/** The error of a failed query: 400 where the query itself is too large, and 503 otherwise. */
export function readError(error: unknown): ClientError {
  const message = messageOf(error)
  const refused = (text: string): ClientError => Object.assign(invalidRequest(text), { cause: error })
  if (TOO_COMPLEX.test(message))
    return refused('The query is too complex: ask with fewer or shorter conditions')
  if (TOO_MUCH_MEMORY.test(message))
    return refused('The query needs more memory than one may have: ask for less, with limit and filter')
  if (TIMED_OUT.test(message)) return tookTooLong(error)
  return dependencyFailed('The trace database could not answer', error)
}

/** 503 for a query that was ended. */
export function tookTooLong(cause?: unknown): ClientError {
  const text = 'The query took too long and was ended: ask for less, with limit and filter, or later'
  return Object.assign(unavailable(text), { cause })
}
