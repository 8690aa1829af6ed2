import { AsyncLocalStorage } from 'node:async_hooks'

const urgent = new AsyncLocalStorage<true>()

/** Lets the writes of some work go before all others that wait on this server. */
export function urgently<Result>(work: () => Promise<Result>): Promise<Result> {
  return urgent.run(true, work)
}

export function isUrgent(): boolean {
  return urgent.getStore() === true
}
