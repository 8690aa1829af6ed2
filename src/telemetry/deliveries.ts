import type { Log } from '../log.ts'

/** What became of reports. A collector that is away gets one line in the log, and one when it is back. */
export interface Deliveries {
  delivered(): void
  /** @param count spans or metrics that are lost */
  lost(count: number, reason: string): void
}

export function createDeliveries(log: Pick<Log, 'warn' | 'info'>, what: string, url: string): Deliveries {
  let lost = 0

  return {
    delivered() {
      if (lost > 0) log.info({ url, lost }, `${what} reach the collector again`)
      lost = 0
    },
    lost(count, reason) {
      if (lost === 0)
        log.warn({ url, reason }, `${what} do not reach the collector: they are lost until it answers`)
      lost += count
    },
  }
}
