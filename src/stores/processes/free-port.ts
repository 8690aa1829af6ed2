import { createServer } from 'node:net'

/** A port of this machine that nothing listens on at this moment; another program may take it. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new TypeError('a TCP server has a port')
  return address.port
}
