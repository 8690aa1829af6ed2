import type { Log } from '../../log.ts'

/**
 * Leases of jobs, limits of times and the order of writes allow for less: a machine whose clock is set by NTP is
 * milliseconds off.
 */
const APART_MS_MAX = 5_000

/** Compares the clock of this machine with that of the database, which all servers share. */
export interface PostgresClock {
  /** @param sentAt, heardAt of this machine's clock, in milliseconds since 1970, around the moment `theirs` was read */
  note(theirs: number, around: { sentAt: number; heardAt: number }): void
  /** What is wrong, while they are apart. */
  warning(): string | undefined
}

export function createPostgresClock({ log }: { log: Pick<Log, 'warn'> }): PostgresClock {
  let apartMs = 0
  return {
    note(theirs, { sentAt, heardAt }) {
      const wasApart = apartMs !== 0
      const difference = (sentAt + heardAt) / 2 - theirs
      const isApart = Math.abs(difference) - (heardAt - sentAt) / 2 > APART_MS_MAX
      apartMs = isApart ? difference : 0
      if (isApart && !wasApart)
        log.warn(
          { seconds: Math.round(apartMs / 1000) },
          'the clock of this machine differs from that of the control database: set it by NTP',
        )
    },
    warning() {
      if (apartMs === 0) return undefined
      const seconds = Math.round(Math.abs(apartMs) / 1000)
      return `the clock of this machine is ${seconds} s ${apartMs > 0 ? 'ahead of' : 'behind'} that of the control database`
    },
  }
}
