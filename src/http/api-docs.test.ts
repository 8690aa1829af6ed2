import { describe, expect, it } from 'vitest'
import { useTestServer } from '../testing.ts'

const server = useTestServer()

async function open(path: string): Promise<{ type: string | null; text: string }> {
  const response = await server.request(path, { headers: { authorization: '' } })
  expect(response.status, path).toBe(200)
  return { type: response.headers.get('content-type'), text: await response.text() }
}

describe('GET /docs', () => {
  it('200 with a page whose parts all come from this server', async () => {
    const page = await open('/docs')
    expect(page.type).toMatch(/^text\/html/)
    const parts = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path ?? '')
    expect(parts.every((path) => path.startsWith('/docs/'))).toBe(true)
    expect((await Promise.all(parts.map(open))).map(({ type }) => type?.split(';')[0])).toEqual([
      'text/css',
      'text/javascript',
      'text/javascript',
    ])
    expect((await open('/openapi.json')).type).toMatch(/json/)
    expect((await open('/')).text).toContain('href="/docs"')
  })
})
