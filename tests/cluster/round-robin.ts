import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'

/** A load balancer that knows nothing of what passes; disposal ends it. */
export interface RoundRobin extends AsyncDisposable {
  url: string
}

/** Tries of one request: beyond them, no server is there. */
const TRIES_MAX = 20
const PAUSE_MS = 50

/** As of a server: the kernel resets connections of a larger burst. */
const WAITING_MAX = 4_096

/**
 * Sends each request to the next server. One that takes no connection is left out; a request that it took and did not
 * answer is cut off, as load balancers do.
 * @param targets addresses of the servers at this moment
 */
export async function startRoundRobin(targets: () => readonly string[], port = 0): Promise<RoundRobin> {
  const agent = new Agent({ keepAlive: true })
  let next = 0

  function pass(req: IncomingMessage, res: ServerResponse, tries = 0): void {
    const urls = targets()
    const url = urls[next++ % urls.length]
    const { method, headers } = req
    const forwarded = request(`${url}${req.url}`, { method, headers, agent }, (reply) => {
      res.writeHead(reply.statusCode ?? 502, reply.headers)
      reply.pipe(res)
      reply.on('error', () => res.destroy())
    })
    forwarded.on('error', (error) => {
      const isUntouched = 'syscall' in error && error.syscall === 'connect' && tries < TRIES_MAX
      if (isUntouched) setTimeout(() => pass(req, res, tries + 1), PAUSE_MS)
      else res.destroy()
    })
    // Nothing of the body is read before there is a connection.
    forwarded.on('socket', (socket) => {
      if (socket.connecting) socket.once('connect', () => req.pipe(forwarded))
      else req.pipe(forwarded)
    })
    res.on('close', () => forwarded.destroy())
  }

  const server = createServer({ requestTimeout: 0, keepAliveTimeout: 75_000 }, (req, res) => pass(req, res))
  await new Promise<void>((resolve) =>
    server.listen({ port, host: '127.0.0.1', backlog: WAITING_MAX }, resolve),
  )
  const address = server.address()
  if (address === null || typeof address === 'string') throw new TypeError('it listens on a port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      agent.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
