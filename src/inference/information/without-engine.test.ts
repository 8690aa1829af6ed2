import { describe, expect, it } from 'vitest'
import { TEST_BASE_MODEL } from '../../test-app.ts'
import { useTestServer } from '../../testing.ts'

const server = useTestServer()

async function get(path: string): Promise<unknown> {
  const response = await server.request(path)
  expect(response.status, await response.clone().text()).toBe(200)
  return response.json()
}

describe('without an engine', () => {
  it('GET /inference/router/{any}/models: 200, with the reason why no engine answers', async () => {
    expect(await get('/inference/router/x/models')).toMatchObject({
      unavailable: expect.stringContaining('npm run setup'),
      models: [{ id: TEST_BASE_MODEL, loaded: false }],
      engines: [],
      limits: { key: { requests_max: null, tokens_per_minute: null } },
    })
  })

  it('GET /inference/analysis/{any}/models: 200 without speeds', async () => {
    expect(await get('/inference/analysis/x/models')).toEqual({
      models: [{ id: TEST_BASE_MODEL, base_model: TEST_BASE_MODEL, speeds: null }],
    })
  })

  it('POST /v1/chat/completions: 503 with the reason, and that to try again is pointless', async () => {
    const body = { model: TEST_BASE_MODEL, messages: [{ role: 'user', content: 'x' }] }
    const reply = await server.post('/v1/chat/completions', body)
    expect([reply.status, reply.headers.get('x-should-retry'), reply.headers.get('retry-after')]).toEqual([
      503,
      'false',
      null,
    ])
    expect(await reply.text()).toContain('npm run setup')
  })

  it('GET /inference/{any}/v2/hardware: 200 without packages', async () => {
    expect(await get('/inference/router/v2/hardware')).toMatchObject({ engine_packages: {} })
  })
})
