import { createServer } from 'node:http'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { askProvider } from '../inference/playground/ask-provider.ts'
import { type Deadline, inTime } from '../inference/playground/deadline.ts'
import { withRetries } from './retry.ts'

/** When it was asked, in milliseconds. */
const askedAt: number[] = []

/** A provider that wants no request for two seconds after its first, and answers none below `/never`. */
const provider = createServer((request, response) => {
  askedAt.push(performance.now())
  if (request.url?.startsWith('/never')) return
  if (askedAt.length === 1) response.writeHead(429, { 'retry-after': '2' }).end()
  else response.end('answered')
})
await new Promise<void>((listening) => provider.listen(0, '127.0.0.1', listening))
const address = provider.address()
const origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
afterAll(() => provider.close())
beforeEach(() => void askedAt.splice(0))

const ask = (baseUrl: string, deadline: Pick<Deadline, 'signal' | 'timeoutMs'>) =>
  askProvider(
    { name: 'busy', baseUrl, apiKey: undefined, fetch },
    { path: '/chat/completions', body: {}, deadline, retries: 'none' },
  )

describe('withRetries', () => {
  it('asks a provider again when it wants to be asked', async () => {
    const { signal } = new AbortController()
    const body = await withRetries(() => ask(`${origin}/v1`, { signal, timeoutMs: 10_000 }), signal)
    expect(await new Response(body).text()).toBe('answered')
    const [first = 0, second = 0] = askedAt
    // A timer may be a millisecond early.
    expect(second - first).toBeGreaterThanOrEqual(1_990)
    expect(askedAt).toHaveLength(2)
  })

  it('does not ask one again that took all the time of the question', async () => {
    const { signal } = new AbortController()
    const asked = withRetries(
      () => inTime(0.5, signal, (deadline) => ask(`${origin}/never`, deadline)),
      signal,
    )
    await expect(asked).rejects.toThrow('The model did not answer within 0.5 s')
    expect(askedAt).toHaveLength(1)
  })
})
