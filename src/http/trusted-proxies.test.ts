import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { listen } from './listen.ts'
import { dropForwarded, parseNetworks } from './trusted-proxies.ts'

const app = new Hono().get('/', (c) => c.json(c.req.header()))

async function seenThrough(networks: readonly string[]): Promise<Record<string, string>> {
  const trustedProxies = parseNetworks(networks)
  await using server = await listen(app, { host: '127.0.0.1', port: 0, trustedProxies })
  const headers = { 'X-Forwarded-Host': 'heddle.example', 'x-forwarded-proto': 'https', 'x-other': 'kept' }
  return (await (await fetch(server.url, { headers })).json()) as Record<string, string>
}

describe('trusted proxies', () => {
  it('are believed', async () => {
    for (const networks of [['127.0.0.1'], ['10.0.0.0/8', '127.0.0.0/8']])
      expect(await seenThrough(networks)).toMatchObject({
        'x-forwarded-host': 'heddle.example',
        'x-forwarded-proto': 'https',
      })
  })

  it('are the only ones: of others, what they forward is dropped and the rest is kept', async () => {
    const seen = await seenThrough(['10.0.0.0/8', '::1'])
    expect(seen['x-other']).toBe('kept')
    expect(Object.keys(seen).filter((name) => name.startsWith('x-forwarded'))).toEqual([])
  })
})

describe('dropForwarded', () => {
  it('compares addresses of a link without their zone, and of both families as they are', () => {
    const networks = parseNetworks(['fe80::/10', '10.0.0.0/8'])
    if (networks === undefined) throw new Error('these are networks')
    const isBelieved = (remoteAddress: string): boolean => {
      const request = new IncomingMessage(new Socket())
      Object.defineProperty(request.socket, 'remoteAddress', { value: remoteAddress })
      request.rawHeaders = ['X-Forwarded-For', '1.2.3.4']
      dropForwarded(request, networks)
      return request.rawHeaders.length > 0
    }
    expect(['fe80::1%eth0', '::ffff:10.1.2.3', '10.1.2.3'].map(isBelieved)).toEqual([true, true, true])
    expect(['2001:db8::1%eth0', '::ffff:11.1.2.3', ''].map(isBelieved)).toEqual([false, false, false])
  })
})

describe('parseNetworks', () => {
  it('refuses what is no address and no network', () => {
    for (const text of ['', 'proxy.example', '10.0.0.0/33', '10.0.0.0/8/8', '10.0.0/8', '::1/x'])
      expect(parseNetworks([text]), text).toBeUndefined()
    // A length that is no plain number would trust every address, or others than those that were meant.
    for (const text of ['10.0.0.0/', '::/', '10.0.0.0/ ', '10.0.0.0/0x8', '10.0.0.0/1e1', '10.0.0.0/-0'])
      expect(parseNetworks([text]), text).toBeUndefined()
  })
})
