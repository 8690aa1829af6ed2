/** Starts servers over a used folder. */
import { join } from 'node:path'
import { freePort, type OwnServer, startServer } from '../../scripts/own-server.ts'

const START_MS_MAX = 120_000

const LOOK_MS = 50

/**
 * Starts a server over a data folder, without an engine; resolves when it answers.
 * @param folder where its log is kept. @throws Error when it does not start.
 */
export async function startAgain(folder: string, data = join(folder, 'data')): Promise<OwnServer> {
  const env = { HEDDLE_DATA: data, HEDDLE_CACHE: join(folder, 'no-environments') }
  const server = startServer({ port: await freePort(), data: folder, env })
  for (const deadline = performance.now() + START_MS_MAX; ; await pause(LOOK_MS)) {
    if (server.failure !== undefined || performance.now() > deadline)
      throw new Error(server.failure ?? 'The server does not start')
    if (await fetch(`${server.url}/version`).catch(() => undefined)) return server
  }
}

export const pause = (ms: number): Promise<void> => new Promise((wake) => setTimeout(wake, ms))
