import { unavailable } from '../errors.ts'

/** Bytes of bodies that all requests together may hold; what is made of them takes a few times as much memory. */
const HELD_BYTES_MAX = 512 * 1024 * 1024

/** The bodies that one server holds in memory. */
export type HeldBodies = ReturnType<typeof createHeldBodies>

/** Bounds what bodies take together: each is counted while it is read and until its request has been answered. */
export function createHeldBodies() {
  let held = 0
  return {
    open() {
      let own = 0
      return {
        /** @throws 503 when there is no room for more. */
        hold(bytes: number): void {
          if (held + bytes > HELD_BYTES_MAX)
            throw unavailable('Too many large requests are being answered', 2)
          held += bytes
          own += bytes
        },
        release(): void {
          held -= own
          own = 0
        },
      }
    },
  }
}

/** What one request holds. */
export type HeldBody = ReturnType<HeldBodies['open']>
