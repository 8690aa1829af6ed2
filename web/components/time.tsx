import { useSyncExternalStore } from 'react'
import { serverNow } from '../api/server-clock.ts'
import { exactTime, formatTime, MISSING } from './format.ts'

/** Ages are shown by the minute, or by the second while they are that young. */
const TICK_MS = 10_000

/** Between two ticks a call may be younger than the clock; what is further ahead is in the future. */
const AHEAD_MS = 15_000

const listeners = new Set<() => void>()
let now = serverNow()
let timer: ReturnType<typeof setInterval> | undefined

/** One clock for all times on the page. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  if (timer === undefined) {
    // Where no time was shown for a while, the clock has stood still.
    tick()
    timer = setInterval(tick, TICK_MS)
  }
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

function tick(): void {
  now = serverNow()
  for (const each of listeners) each()
}

/** The moment as an age under a day, then as a date; exact on hover. */
export function Time({ iso }: { iso: string | null | undefined }) {
  const clock = useSyncExternalStore(subscribe, () => now)
  if (iso == null) return MISSING
  const at = Date.parse(iso)
  const seenFrom = at > clock && at - clock <= AHEAD_MS ? at : clock
  return (
    <time dateTime={iso} title={exactTime(iso)} className="whitespace-nowrap">
      {formatTime(iso, seenFrom)}
    </time>
  )
}
