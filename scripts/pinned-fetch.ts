import { TLSSocket } from 'node:tls'
import { Agent, buildConnector, fetch as fetchFrom } from 'undici'

/**
 * `fetch` with a pinned certificate: neither the name in the certificate nor its issuer is checked.
 * @param certificate the SHA-256 fingerprint of the expected certificate, hexadecimal with colons
 * @throws Error when the server presents another certificate
 */
export async function fetchPinned(url: string, init: RequestInit, certificate: string): Promise<Response> {
  // A session that is resumed shows no certificate.
  const connect = buildConnector({ rejectUnauthorized: false, maxCachedSessions: 0 })
  const dispatcher = new Agent({
    connect: (options, callback) =>
      connect(options, (...[error, socket]) => {
        if (error !== null) return callback(error, null)
        if (socket instanceof TLSSocket && socket.getPeerCertificate().fingerprint256 === certificate)
          return callback(null, socket)
        socket.destroy()
        callback(
          new Error(
            'Another server answers there, with another certificate: name the right one with --url https://NAME',
          ),
          null,
        )
      }),
  })
  // Both are the fetch of undici; only its own types know the dispatcher.
  const sent = fetchFrom(url, { ...init, dispatcher } as Parameters<typeof fetchFrom>[1])
  return (await sent) as unknown as Response
}
