import { describe, expect, it } from 'vitest'
import { useTestServer } from '../../testing.ts'
import { unsupportedRoutes } from './routes.ts'

const server = useTestServer()

describe('parts of the wire that are not done', () => {
  it.each(unsupportedRoutes().map(({ method, path }) => ({ method, path: String(path) })))(
    '501 with a sentence for $method $path',
    async ({ method, path }) => {
      const response = await server.request(path.replaceAll(/[{}]/g, ''), { method, body: '{}' })
      expect(response.status).toBe(501)
      expect(await response.json()).toEqual({ reason: expect.stringMatching(/\w+ \w+/) })
    },
  )
})
