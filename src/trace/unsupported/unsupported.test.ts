import { describe, expect, it } from 'vitest'
import { useTestServer } from '../../testing.ts'
import { unsupportedRoutes } from './routes.ts'

const server = useTestServer()

const unsupported = unsupportedRoutes().map(({ method, path }) => ({ method, path: String(path) }))

describe.each(unsupported)('$method $path', ({ method, path }) => {
  it('501 with a reason, and a header against retries', async () => {
    const response = await server.request(path.replaceAll(/[{}]/g, ''), { method, body: '{}' })
    expect(response.status).toBe(501)
    expect(response.headers.get('x-should-retry')).toBe('false')
    expect(await response.json()).toEqual({ reason: expect.stringMatching(/\w+ \w+/) })
  })
})
