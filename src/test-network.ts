import { connect, createServer, type Socket } from 'node:net'
import { freePort } from './stores/processes/free-port.ts'

/** A network between a client and a server of this machine, for tests; disposal closes it. */
export interface TestNetwork extends AsyncDisposable {
  /** The server's port as the client sees it. */
  port: number
  /** While it hangs, it takes what is sent and passes nothing on; connections that have lost something so are closed afterwards. */
  hang(isHanging: boolean): void
  /** Closes all connections, and takes no further ones. */
  cut(): Promise<void>
}

/** @param to the port of the server */
export async function startTestNetwork(to: number): Promise<TestNetwork> {
  const sockets = new Set<Socket>()
  /** Those that have lost bytes. */
  const lossy = new Set<Socket>()
  let isHanging = false
  const listener = createServer((client) => {
    const target = connect(to, '127.0.0.1')
    for (const socket of [client, target]) {
      sockets.add(socket)
      socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket))
    }
    const pass = (to: Socket) => (bytes: Buffer) => void (isHanging ? lossy.add(to) : to.write(bytes))
    client.on('data', pass(target)).on('close', () => target.destroy())
    target.on('data', pass(client)).on('close', () => client.destroy())
  })
  const port = await freePort()
  await new Promise<void>((resolve) => listener.listen(port, '127.0.0.1', resolve))

  async function cut(): Promise<void> {
    const closed = new Promise<void>((resolve) => listener.close(() => resolve()))
    for (const socket of sockets) socket.destroy()
    await closed
  }

  return {
    port,
    hang(value) {
      isHanging = value
      if (value) return
      for (const socket of lossy) socket.destroy()
      lossy.clear()
    },
    cut,
    [Symbol.asyncDispose]: cut,
  }
}
