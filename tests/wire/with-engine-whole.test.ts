import { spawnSync } from 'node:child_process'
import { useEngineServer } from './with-engine/server.ts'
import './with-engine/client-versions.ts'
import './with-engine/loop.ts'
// Last, since it kills the server.
import './with-engine/evaluation.ts'

useEngineServer({ HEDDLE_SCORER_CODE: confinesCode() ? 'run' : 'run-unconfined' })

/** Whether this machine lets a process have the namespaces that confine code. */
function confinesCode(): boolean {
  return spawnSync('unshare', ['--user', '--net', '--mount', '--pid', '--fork', 'true']).status === 0
}
