import { AsyncLocalStorage } from 'node:async_hooks'

/** What one query of a request may take; infinite where there is no limit. */
export interface QueryLimits {
  /** Whose limits they are, for the message of a refusal. */
  whose: string
  msMax: number
  /** Rows that it may look through, as the database estimates them before it begins. */
  rowsMax: number
}

/**
 * A request's limits reach its queries without being handed through every service: what a service reads it reads for
 * the request, however many calls lie between.
 */
const current = new AsyncLocalStorage<() => QueryLimits | undefined>()

/** Does the work of a request within its limits, which are looked up when a query begins. */
export function withQueryLimits<Result>(limits: () => QueryLimits | undefined, work: () => Result): Result {
  return current.run(limits, work)
}

/** The limits of the request that this is done for; undefined for other work, and where there are none. */
export function queryLimits(): QueryLimits | undefined {
  return current.getStore()?.()
}
