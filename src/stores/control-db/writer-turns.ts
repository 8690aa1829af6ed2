import { busy } from './postgres-errors.ts'
import { isUrgent } from './urgent-writes.ts'

/** How long a writer waits, for those before it on this server and then for those of others. */
export const WRITER_WAITS_MS_MAX = 30_000

/** A writer's turn. */
export interface WriterTurn {
  /** How much longer it may wait for the lock; 0 where it may wait for ever. */
  msLeft(): number
  /** The lock is held: it waits no more. */
  begun(): void
  end(): void
}

/** One writer of this server waits for the lock at a time, so that the others leave the connections to readers. */
export interface WriterTurns {
  /** @throws 503 where the turn does not come in time */
  take(): Promise<WriterTurn>
  /** How long the one that has waited longest waits. */
  waitsMs(): number
}

/** @param waitMsMax without one, writers wait for as long as it takes */
export function createWriterTurns(waitMsMax?: number): WriterTurns {
  interface Waiter {
    since: number
    begin(): void
  }
  const waiting: Waiter[] = []
  /** Since when the one whose turn it is has waited; undefined once it has the lock. */
  let lockWantedSince: number | undefined
  let isTaken = false

  function passOn(): void {
    lockWantedSince = undefined
    const next = waiting.shift()
    isTaken = next !== undefined
    next?.begin()
  }

  function waitInLine(since: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        since,
        begin() {
          clearTimeout(timer)
          resolve()
        },
      }
      const leave = (): void => {
        waiting.splice(waiting.indexOf(waiter), 1)
        reject(busy(new Error('its turn did not come')))
      }
      const timer = waitMsMax === undefined ? undefined : setTimeout(leave, waitMsMax)
      if (isUrgent()) waiting.unshift(waiter)
      else waiting.push(waiter)
    })
  }

  return {
    async take() {
      const since = performance.now()
      if (isTaken) await waitInLine(since)
      isTaken = true
      lockWantedSince = since
      return {
        // PostgreSQL takes 0 as no limit.
        msLeft: () =>
          waitMsMax === undefined ? 0 : Math.max(1, Math.ceil(since + waitMsMax - performance.now())),
        begun() {
          lockWantedSince = undefined
        },
        end: passOn,
      }
    },

    waitsMs() {
      const now = performance.now()
      const since = [lockWantedSince ?? now, ...waiting.map((waiter) => waiter.since)]
      return now - Math.min(...since)
    },
  }
}
