import { connect, createServer, type Socket } from 'node:net'
import { freePort } from './stores/processes/free-port.ts'

/** A network between a client and a server of this machine, for tests; disposal closes it. */
export interface TestNetwork extends AsyncDisposable {
  /** The server's port as the client sees it. */
  port: number
  /**
   * While it hangs, it takes what is sent and passes nothing on; connections that have lost something so are closed
   * afterwards.
   */
  hang(isHanging: boolean): void
  /** Passes everything on this many milliseconds later. */
  slow(ms: number): void
  /** While it is broken, it closes every connection. */
  break(isBroken: boolean): void
  /** Closes all connections, and takes no further ones. */
  cut(): Promise<void>
}

/** @param to the port of the server */
export async function startTestNetwork(to: number): Promise<TestNetwork> {
  const sockets = new Set<Socket>()
  /** Those that have lost bytes. */
  const lossy = new Set<Socket>()
  const state = { isHanging: false, isBroken: false, delayMs: 0 }
  const listener = createServer((client) => {
    if (state.isBroken) return void client.destroy()
    const target = connect(to, '127.0.0.1')
    for (const socket of [client, target]) {
      sockets.add(socket)
      socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket))
    }
    passOn(client, target)
    passOn(target, client)
  })

  function passOn(from: Socket, to: Socket): void {
    const later = inOrder(() => state.delayMs)
    from.on('data', (bytes) => {
      if (state.isHanging) lossy.add(to)
      else later(() => to.write(bytes))
    })
    from.on('close', () => later(() => to.destroy()))
  }

  const port = await freePort()
  await new Promise<void>((resolve) => listener.listen(port, '127.0.0.1', resolve))

  function closeAll(): void {
    for (const socket of sockets) socket.destroy()
  }

  async function cut(): Promise<void> {
    const closed = new Promise<void>((resolve) => listener.close(() => resolve()))
    closeAll()
    await closed
  }

  return {
    port,
    hang(value) {
      state.isHanging = value
      if (value) return
      for (const socket of lossy) socket.destroy()
      lossy.clear()
    },
    slow(ms) {
      state.delayMs = ms
    },
    break(value) {
      state.isBroken = value
      if (value) closeAll()
    },
    cut,
    [Symbol.asyncDispose]: cut,
  }
}

/** Does one thing after the other, each after a delay that may change: none overtakes an earlier one. */
function inOrder(delayMs: () => number): (what: () => void) => void {
  const waiting: (() => void)[] = []
  let lastDue = 0
  return (what) => {
    const now = performance.now()
    lastDue = Math.max(lastDue, now + delayMs())
    if (waiting.length === 0 && lastDue <= now) return what()
    waiting.push(what)
    // The first one that waits, whichever timer is over.
    setTimeout(() => waiting.shift()?.(), lastDue - now)
  }
}
