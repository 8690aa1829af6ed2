/** Starts servers over a used folder, and exchanges messages with the processes of the clients. */
import { join } from 'node:path'
import { freePort, startServer } from '../../scripts/own-server.ts'

const START_MS_MAX = 120_000

const LOOK_MS = 50

/**
 * Starts a server over a data folder, without an engine; resolves when it answers.
 * @param folder where its log is kept. @throws Error when it does not start.
 */
export async function startAgain(folder, data = join(folder, 'data')) {
  const env = { HEDDLE_DATA: data, HEDDLE_CACHE: join(folder, 'no-environments') }
  const server = startServer({ port: await freePort(), data: folder, env })
  for (const deadline = performance.now() + START_MS_MAX; ; await pause(LOOK_MS)) {
    if (server.failure !== undefined || performance.now() > deadline)
      throw new Error(server.failure ?? 'The server does not start')
    if (await fetch(`${server.url}/version`).catch(() => undefined)) return server
  }
}

/** Sends a message to a client's process; resolves with its reply. Its unsolicited messages are not replies. */
export function tell(client, message) {
  return new Promise((fulfil) => {
    function take(reply) {
      if (reply.now !== undefined) return
      client.off('message', take)
      fulfil(reply)
    }
    client.on('message', take)
    client.send(message)
  })
}

export const pause = (ms) => new Promise((wake) => setTimeout(wake, ms))
