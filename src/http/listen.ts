import { serve } from '@hono/node-server'
import type { Hono } from 'hono'

export interface Listening extends AsyncDisposable {
  url: string
}

/** Open connections get this long to finish after a stop was asked for; the whole stop must fit 10 s. */
const DRAIN_MS = 5_000

/**
 * A request may take this long: an upload of some ten gigabytes over a slow line. Node would cut it after 5 minutes. How
 * long a body may take that is not such an upload is bounded where it is read.
 */
const REQUEST_MS_MAX = 6 * 3_600_000

/**
 * Idle connections are kept this long, which is longer than clients keep theirs: whoever closes first must not be the
 * one to whom a request may be on its way.
 */
const KEEP_ALIVE_MS = 75_000

/** Headers are at most 16 KiB and come in one piece from any client; who connects and says nothing is cut after this too. */
const HEADERS_MS_MAX = 20_000

/** How often connections are looked at that have not sent their headers. */
const CHECK_MS = 5_000

/**
 * More connections are closed as they come. Each takes some 30 kB while it sends its headers and a file descriptor, which
 * the stores need as well; clients of a server this size hold some hundreds.
 */
const CONNECTIONS_MAX = 4_096

/** Serves the app on one port. Disposal stops accepting, lets requests finish, then cuts what is left. */
export async function listen(app: Hono, address: { host: string; port: number }): Promise<Listening> {
  const server = await new Promise<ReturnType<typeof serve>>((resolve, reject) => {
    const options = {
      fetch: app.fetch,
      hostname: address.host,
      port: address.port,
      serverOptions: {
        requestTimeout: REQUEST_MS_MAX,
        headersTimeout: HEADERS_MS_MAX,
        connectionsCheckingInterval: CHECK_MS,
        keepAliveTimeout: KEEP_ALIVE_MS,
      },
    }
    const starting = serve(options, () => resolve(starting))
    starting.once('error', reject)
  })
  server.maxConnections = CONNECTIONS_MAX
  const bound = server.address()
  const port = typeof bound === 'object' && bound !== null ? bound.port : address.port
  const host = address.host.includes(':') ? `[${address.host}]` : address.host
  return {
    url: `http://${host}:${port}`,
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      if ('closeIdleConnections' in server) server.closeIdleConnections()
      const cut = setTimeout(() => 'closeAllConnections' in server && server.closeAllConnections(), DRAIN_MS)
      await closed
      clearTimeout(cut)
    },
  }
}
