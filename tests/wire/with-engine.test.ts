import { useEngineServer } from './with-engine/server.ts'
import './with-engine/training.ts'
import './with-engine/otlp.ts'

useEngineServer({ HEDDLE_AUTH: 'keys' })
