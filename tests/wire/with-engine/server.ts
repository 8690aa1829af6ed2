import { spawnSync } from 'node:child_process'
import { afterAll, beforeAll } from 'vitest'
import { pythonIn } from '../../../scripts/python-environments.ts'
import { startServer, type WireServer } from '../server.ts'

let started: WireServer | undefined

/** The server of those files of this folder that one test file imports: its engine starts once. */
export function engineServer(): WireServer {
  if (started === undefined) throw new Error('The server has not been started')
  return started
}

/** With a team named `team`. */
export function useEngineServer(): void {
  beforeAll(async () => {
    const env = {
      HEDDLE_AUTH: 'keys',
      HEDDLE_ENGINE_PYTHON: pythonIn('engine'),
      HEDDLE_SCORER_CODE: confinesCode() ? 'run' : 'run-unconfined',
    }
    started = await startServer(env, { teams: ['team'] })
  })
  afterAll(() => started?.[Symbol.asyncDispose]())
}

/** Whether this machine lets a process have the namespaces that confine code. */
function confinesCode(): boolean {
  return spawnSync('unshare', ['--user', '--net', '--mount', '--pid', '--fork', 'true']).status === 0
}
