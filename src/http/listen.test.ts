import { Hono } from 'hono'
import { Agent, fetch } from 'undici'
import { describe, expect, it } from 'vitest'
import { CERT, KEY } from '../test-certificate.ts'
import { listen } from './listen.ts'

describe('listen', () => {
  it('serves encrypted where it has a certificate, and tells the app so', async () => {
    const app = new Hono().get('/', (c) => c.text(new URL(c.req.url).protocol))
    await using server = await listen(app, { host: '127.0.0.1', port: 0, tls: { cert: CERT, key: KEY } })
    expect(server.url).toMatch(/^https:/)
    const dispatcher = new Agent({ connect: { ca: CERT, servername: 'localhost' } })
    expect(await (await fetch(server.url, { dispatcher })).text()).toBe('https:')
    await dispatcher.close()
    await expect(fetch(server.url.replace('https:', 'http:'))).rejects.toThrow()
  })
})
