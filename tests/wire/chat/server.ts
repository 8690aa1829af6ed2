import { pythonIn } from '../../../scripts/python-environments.ts'
import { startServer, type WireServer } from '../server.ts'

/** Clients that ask at once in `load.ts`. */
export const CLIENTS = 2000

/** Requests that one key may have running, at all servers together. */
export const REQUESTS_MAX = CLIENTS / 4

let started: WireServer | undefined

/** The server of all tests of this folder: its engine starts once. */
export function chatServer(): WireServer {
  if (started === undefined) throw new Error('The server has not been started')
  return started
}

export async function startChatServer(): Promise<void> {
  started = await startServer({
    HEDDLE_AUTH: 'keys',
    HEDDLE_ENGINE_PYTHON: pythonIn('engine'),
    HEDDLE_KEY_REQUESTS_MAX: String(REQUESTS_MAX),
  })
}

export async function stopChatServer(): Promise<void> {
  await started?.[Symbol.asyncDispose]()
}
