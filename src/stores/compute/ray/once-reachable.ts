import { setTimeout as delay } from 'node:timers/promises'
import { RayUnreachable } from './jobs-api.ts'

/** The dashboard may be started anew meanwhile. */
export const UNREACHABLE_MS_MAX = 60_000

const RETRY_MS = 500

/**
 * Asks Ray until it can be reached, for as long as it may be away.
 * @throws what it answers; RayUnreachable where it stays away; the signal's reason
 */
export async function onceReachable<Answer>(
  ask: () => Promise<Answer>,
  { awayMs, signal }: { awayMs: number; signal: AbortSignal },
): Promise<Answer> {
  const startedAt = performance.now()
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof RayUnreachable) || performance.now() - startedAt > awayMs) throw error
      await delay(RETRY_MS, undefined, { signal }).catch(() => {})
    }
  }
}
