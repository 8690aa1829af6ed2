import { onlineManager } from '@tanstack/react-query'
import { credentials } from './key.ts'

/** How often the server is probed when nothing else sends requests, in milliseconds. */
const BEAT_MS = 1_000
/** A busy server answers late; one that takes longer counts as unreachable. */
const ANSWER_MS = 10_000

/** When the server last answered anything, in milliseconds since 1970. */
let heardAt = 0
let probeNow = (): void => undefined

/** Any reply arrived. */
export function noteAnswer(): void {
  heardAt = Date.now()
  if (!onlineManager.isOnline()) onlineManager.setOnline(true)
}

/** A request did not reach the server; a probe finds out at once whether it is unreachable. */
export function noteNoAnswer(): void {
  heardAt = 0
  probeNow()
}

/**
 * Decides from now on whether the queries are online: while the server does not answer, requests wait, and continue
 * when it does. A hidden tab does not probe.
 */
export function watchConnection(): void {
  onlineManager.setEventListener((setOnline) => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let isProbing = false
    const probe = async () => {
      if (isProbing) return
      isProbing = true
      clearTimeout(timer)
      const isQuiet = Date.now() - heardAt >= BEAT_MS
      if (isQuiet && document.visibilityState === 'visible') setOnline(await isThere())
      isProbing = false
      const quietMs = Date.now() - heardAt
      timer = setTimeout(() => void probe(), quietMs < BEAT_MS ? BEAT_MS - quietMs : BEAT_MS)
    }
    probeNow = () => void probe()
    document.addEventListener('visibilitychange', probeNow)
    timer = setTimeout(probeNow, BEAT_MS)
    return () => {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', probeNow)
    }
  })
}

async function isThere(): Promise<boolean> {
  try {
    await fetch('/version', {
      cache: 'no-store',
      headers: credentials(),
      signal: AbortSignal.timeout(ANSWER_MS),
    })
    heardAt = Date.now()
    return true
  } catch {
    return false
  }
}

/** Resolves as soon as the server answers. */
export async function untilOnline(): Promise<void> {
  if (onlineManager.isOnline()) return
  await new Promise<void>((fulfil) => {
    const stop = onlineManager.subscribe((isOnline) => {
      if (!isOnline) return
      stop()
      fulfil()
    })
  })
}
