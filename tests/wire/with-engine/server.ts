import { afterAll, beforeAll } from 'vitest'
import { pythonIn } from '../../../scripts/python-environments.ts'
import { startServer, type WireServer } from '../server.ts'

let started: WireServer | undefined

/** The server of those files of this folder that one test file imports: its engine starts once. */
export function engineServer(): WireServer {
  if (started === undefined) throw new Error('The server has not been started')
  return started
}

/** @param env settings of the server beside its engine */
export function useEngineServer(env: Record<string, string>): void {
  beforeAll(async () => {
    started = await startServer({ HEDDLE_ENGINE_PYTHON: pythonIn('engine'), ...env })
  })
  afterAll(() => started?.[Symbol.asyncDispose]())
}
