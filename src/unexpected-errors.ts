import type { EventEmitter } from 'node:events'
import type { Log } from './log.ts'

/** For this long after an unexpected error, health is degraded. */
const DEGRADED_MS = 10 * 60_000

/** So many within a minute are not isolated errors: the process is in a broken state. */
const STORM_ERRORS = 20
const STORM_MS = 60_000

/** Uncaught errors, which are bugs. */
export interface UnexpectedErrors {
  /** Since the start. */
  count(): number
  /** Whether there was one within the last ten minutes. */
  isRecent(): boolean
}

/** A recorder without errors; for servers that do not own their process, such as those under test. */
export const NO_UNEXPECTED_ERRORS: UnexpectedErrors = { count: () => 0, isRecent: () => false }

/**
 * The last resort for an error that was thrown in a listener or by a promise that nothing awaits. The server continues:
 * such an error belongs to one request or one connection, each row is committed before it is acknowledged, and a server
 * that exits could be stopped by anyone who finds a request that makes it throw. Each error is logged with its stack
 * and counted, and health is degraded for a while. Too many of them resolve `storm`: the process is then in a broken
 * state and should stop cleanly with an error, so that a supervisor restarts it.
 */
export function watchUnexpectedErrors(
  log: Pick<Log, 'fatal'>,
  source: EventEmitter = process,
): UnexpectedErrors & Disposable & { storm: Promise<'storm'> } {
  const storm = Promise.withResolvers<'storm'>()
  let count = 0
  let lastAt = Number.NEGATIVE_INFINITY
  let recent: number[] = []

  // Without a listener of its own, an unhandled rejection is reported as an uncaught exception too.
  function note(error: unknown, origin: string): void {
    count++
    lastAt = performance.now()
    recent = [...recent.filter((at) => lastAt - at < STORM_MS), lastAt]
    log.fatal(
      { err: error, origin },
      'an error that no code has caught: the server goes on; please report it',
    )
    if (recent.length >= STORM_ERRORS) storm.resolve('storm')
  }

  source.on('uncaughtException', note)
  return {
    count: () => count,
    isRecent: () => performance.now() - lastAt < DEGRADED_MS,
    storm: storm.promise,
    [Symbol.dispose]: () => source.off('uncaughtException', note),
  }
}
