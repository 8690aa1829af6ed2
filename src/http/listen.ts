import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { createAdaptorServer } from '@hono/node-server'
import type { Hono } from 'hono'
import { dropForwarded, type Networks } from './trusted-proxies.ts'

/** A certificate with those above it, and its key, in PEM. */
export interface Certificate {
  cert: string
  key: string
}

export interface ListenOptions {
  host: string
  port: number
  tls?: Certificate | undefined
  /** Proxies whose headers about the original request are believed; those of all where absent. */
  trustedProxies?: Networks | undefined
}

export interface Listening extends AsyncDisposable {
  url: string
  /** The SHA-256 of the certificate that it shows, hexadecimal with colons; undefined without one. */
  certificate: string | undefined
}

/** Open connections get this long to finish after a stop was requested; the whole stop must fit 10 s. */
const DRAIN_MS = 5_000

/**
 * A request may take this long: an upload of some ten gigabytes over a slow line. Node would cut it after 5 minutes.
 * Other bodies have limits of their own where they are read.
 */
const REQUEST_MS_MAX = 6 * 3_600_000

/**
 * Idle connections are kept this long, which is longer than clients keep theirs: otherwise the server could close a
 * connection while a request is on its way.
 */
const KEEP_ALIVE_MS = 75_000

/**
 * Headers are at most 16 KiB and come in one piece from any client; a connection that sends nothing is closed after
 * this too.
 */
const HEADERS_MS_MAX = 20_000

/** How often connections that have not sent their headers are checked. */
const CHECK_MS = 5_000

/**
 * More connections are closed as they come. Each takes some 30 kB while it sends its headers and a file descriptor,
 * which the stores need as well; clients of a server this size hold some hundreds. As many may wait to be accepted,
 * where the system allows it: beyond Node's own 511 the kernel resets connections of a burst while this thread is busy.
 */
const CONNECTIONS_MAX = 4_096

/**
 * Serves the app on one port, encrypted where there is a certificate. Disposal stops accepting, lets requests finish,
 * then closes the remaining connections.
 */
export async function listen(
  app: Hono,
  { tls, trustedProxies, ...address }: ListenOptions,
): Promise<Listening> {
  const server = createAdaptorServer({
    fetch: app.fetch,
    ...(tls !== undefined && { createServer: createTlsServer }),
    serverOptions: {
      ...tls,
      requestTimeout: REQUEST_MS_MAX,
      headersTimeout: HEADERS_MS_MAX,
      connectionsCheckingInterval: CHECK_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
    },
  })
  if (trustedProxies !== undefined)
    server.prependListener('request', (request: IncomingMessage) => dropForwarded(request, trustedProxies))
  server.listen({ ...address, backlog: CONNECTIONS_MAX })
  await once(server, 'listening')
  server.maxConnections = CONNECTIONS_MAX
  const bound = server.address()
  const port = typeof bound === 'object' && bound !== null ? bound.port : address.port
  const host = address.host.includes(':') ? `[${address.host}]` : address.host
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${host}:${port}`,
    certificate: tls && new X509Certificate(tls.cert).fingerprint256,
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      if ('closeIdleConnections' in server) server.closeIdleConnections()
      const cut = setTimeout(() => 'closeAllConnections' in server && server.closeAllConnections(), DRAIN_MS)
      await closed
      clearTimeout(cut)
    },
  }
}
