import type { QueryClient } from '@tanstack/react-query'
import { prefetchPalette } from './palette.tsx'
import { router } from './router.tsx'

/**
 * Loads the palette and the pages that were not opened yet, one after the other while the browser is idle: they open at
 * once, and without the server. The first page has its data before.
 */
export function prefetchPages(queryClient: QueryClient): void {
  const parts = [
    prefetchPalette,
    ...Object.values(router.routesById).map((route) => () => router.loadRouteChunk(route)),
  ]
  const isLoading = (): boolean => router.state.status === 'pending' || queryClient.isFetching() > 0
  const next = async (): Promise<void> => {
    if (isLoading()) {
      setTimeout(() => whenIdle(next), BUSY_MS)
      return
    }
    const load = parts.shift()
    if (load === undefined) return
    await load()
    whenIdle(next)
  }
  setTimeout(() => whenIdle(next), BUSY_MS)
}

/** Looks again after this, while the page in view loads. */
const BUSY_MS = 200

/** Not in the way of what the first page needs. */
const FIRST_MS = 1_000

function whenIdle(task: () => Promise<void>): void {
  const run = (): void => void task()
  // Safari has no idle callbacks.
  if ('requestIdleCallback' in window) requestIdleCallback(run, { timeout: FIRST_MS })
  else setTimeout(run, FIRST_MS)
}
