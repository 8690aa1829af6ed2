import { router } from './router.tsx'

/**
 * Loads the pages that were not opened yet, one after the other while the browser is idle: they open at once, and
 * without the server.
 */
export function prefetchPages(): void {
  const routes = Object.values(router.routesById)
  const next = async (): Promise<void> => {
    const route = routes.shift()
    if (route === undefined) return
    await router.loadRouteChunk(route)
    whenIdle(() => void next())
  }
  whenIdle(() => void next())
}

/** Not in the way of what the first page needs. */
const FIRST_MS = 1_000

function whenIdle(run: () => void): void {
  // Safari has no idle callbacks.
  if ('requestIdleCallback' in window) requestIdleCallback(run, { timeout: FIRST_MS })
  else setTimeout(run, FIRST_MS)
}
