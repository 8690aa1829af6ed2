import { afterAll, beforeAll } from 'vitest'
import { startChatServer, stopChatServer } from './chat/server.ts'
// In this order: clients list the models before there are any but the base model, memory is measured before much has
// been asked, and what ends the engine and the server comes last.
import './chat/clients.ts'
import './chat/load.ts'
import './chat/fields.ts'
import './chat/stream.ts'
import './chat/endpoints.ts'

beforeAll(startChatServer)
afterAll(stopChatServer)
