import { useEngineServer } from './with-engine/server.ts'
import './with-engine/client-versions.ts'
import './with-engine/loop.ts'
// Last, since it kills the server.
import './with-engine/evaluation.ts'

useEngineServer()
