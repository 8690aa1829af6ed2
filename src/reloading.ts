import { setTimeout as delay } from 'node:timers/promises'
import { messageOf } from './errors.ts'
import type { Log } from './log.ts'

/** Between two tries while a store does not answer. */
const RETRY_MS = 1_000

/** Reads something again when it is asked to. */
export interface Reloading extends Disposable {
  /** Reads once more, after a read that is in progress; several requests meanwhile are one. */
  ask(): void
}

/**
 * Reads until it succeeds, each time that it is asked, until disposal.
 * @param what is named in the log, in the plural
 * @param pauseMs after each read
 */
export function reloading(
  what: string,
  read: () => Promise<void>,
  { log, pauseMs = 0 }: { log: Pick<Log, 'warn'>; pauseMs?: number },
): Reloading {
  const stopping = new AbortController()
  const { signal } = stopping
  let isWanted = false
  let isRunning = false

  async function run(): Promise<void> {
    isRunning = true
    while (isWanted && !signal.aborted) {
      isWanted = false
      try {
        await read()
        if (pauseMs > 0) await delay(pauseMs, undefined, { signal, ref: false })
      } catch (error) {
        if (signal.aborted) break
        log.warn({ reason: messageOf(error) }, `${what} could not be read again yet`)
        isWanted = true
        await delay(RETRY_MS, undefined, { signal, ref: false }).catch(() => undefined)
      }
    }
    isRunning = false
  }

  return {
    ask() {
      isWanted = true
      if (!isRunning) void run()
    },
    [Symbol.dispose]: () => stopping.abort(),
  }
}
