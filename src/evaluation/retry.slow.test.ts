import { createServer } from 'node:http'
import { afterAll, describe, expect, it } from 'vitest'
import { askProvider } from '../inference/playground/ask-provider.ts'
import { withRetries } from './retry.ts'

/** When it was asked, in milliseconds. */
const askedAt: number[] = []

/** A provider that wants no request for two seconds after its first. */
const provider = createServer((_request, response) => {
  askedAt.push(performance.now())
  if (askedAt.length === 1) response.writeHead(429, { 'retry-after': '2' }).end()
  else response.end('answered')
})
await new Promise<void>((listening) => provider.listen(0, '127.0.0.1', listening))
const address = provider.address()
const baseUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/v1`
afterAll(() => provider.close())

describe('withRetries', () => {
  it('asks a provider again when it wants to be asked', async () => {
    const { signal } = new AbortController()
    const body = await withRetries(
      () =>
        askProvider(
          { name: 'busy', baseUrl, apiKey: undefined, fetch },
          { path: '/chat/completions', body: {}, deadline: { signal, timeoutMs: 10_000 }, retries: 'none' },
        ),
      signal,
    )
    expect(await new Response(body).text()).toBe('answered')
    const [first = 0, second = 0] = askedAt
    // A timer may be a millisecond early.
    expect(second - first).toBeGreaterThanOrEqual(1_990)
    expect(askedAt).toHaveLength(2)
  })
})
