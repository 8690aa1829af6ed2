import { afterAll, describe, expect, it } from 'vitest'
import { documentsOf, replyOf, useTestServer } from '../../testing.ts'
import { openFakeProvider } from './fake-provider.ts'

const provider = await openFakeProvider()
afterAll(() => provider[Symbol.asyncDispose]())

const server = useTestServer({
  providers: new Map([['openai', { baseUrl: provider.baseUrl, apiKey: 'secret' }]]),
})

const messages = Array.from({ length: 60 }, () => ({ role: 'user', content: '{a}'.repeat(10_000) }))

function bodyOf(project_id: string, a: unknown) {
  return { project_id, inputs: { model: 'gpt-4o-mini', messages, template_vars: { a } } }
}

describe('messages that would be too long with what is filled in', () => {
  it('POST /completions/create: 200 with the error, without a call', async () => {
    const project = server.newProject()
    for (const a of ['x'.repeat(10_000), ['x'.repeat(10_000)], '']) {
      const { response } = await replyOf(await server.post('/completions/create', bodyOf(project, a)))
      expect(response).toEqual({ error: expect.stringMatching(/^The messages have more than/) })
    }
    expect(await documentsOf(await server.post('/calls/stream_query', { project_id: project }))).toEqual([])
    expect(provider.requests).toEqual([])
  })

  it('POST /completions/create_stream: 200 with the error as the only line', async () => {
    const body = bodyOf(server.newProject(), 'x'.repeat(10_000))
    const response = await server.post('/completions/create_stream', body)
    expect(await documentsOf(response)).toEqual([{ error: expect.stringContaining('4194304 characters') }])
  })
})
