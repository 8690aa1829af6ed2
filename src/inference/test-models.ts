import { randomUUID } from 'node:crypto'
import { TEST_BASE_MODEL } from '../test-app.ts'
import { replyOf, type TestServer } from '../testing.ts'

/** A new model of `local/proj`, with its name as completions take it. */
export async function newTestModel(server: TestServer): Promise<{ id: string; name: string; path: string }> {
  const body = { project: 'proj', name: randomUUID(), base_model: TEST_BASE_MODEL }
  const { id, name } = await replyOf<{ id: string; name: string }>(
    await server.post('/v1/preview/models', body),
  )
  return { id, name, path: `local/proj/${name}` }
}
