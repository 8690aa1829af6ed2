import { setTimeout as delay } from 'node:timers/promises'

/** A stop waits so long for the last reports of a kind; the whole stop must fit 10 s. */
export const STOP_MS = 1_500

/** Waits for reports until their time is over, and then ends those in progress. */
export async function lastReport(
  reported: Promise<void>,
  { stopping, stopMs }: { stopping: AbortController; stopMs: number },
): Promise<void> {
  const inTime = new AbortController()
  const deadline = delay(stopMs, undefined, { signal: inTime.signal }).catch(() => undefined)
  await Promise.race([reported, deadline])
  inTime.abort()
  stopping.abort(new Error('the server stops'))
  await reported
}
