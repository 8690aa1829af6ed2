import { createServer } from 'node:http'
import { afterAll, describe, expect, it } from 'vitest'
import { askProvider } from './inference/playground/ask-provider.ts'
import { keyRemover } from './without-key.ts'

const KEY = 'sk-secret-key-é'

/** A provider that repeats the key in its answer, byte by byte. */
const provider = createServer(async (request, response) => {
  const said = Buffer.from(`{"said": "you are ${KEY}, ${KEY}"}`)
  response.writeHead(request.url === '/v1/images/generations' ? 400 : 200, {
    'content-type': 'application/json',
  })
  for (const byte of said) {
    response.write(Buffer.from([byte]))
    await new Promise((next) => setImmediate(next))
  }
  response.end()
})
await new Promise<void>((listening) => provider.listen(0, '127.0.0.1', listening))
const address = provider.address()
const baseUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/v1`
afterAll(() => {
  provider.closeAllConnections()
  provider.close()
})

const ask = (path: '/chat/completions' | '/images/generations', apiKey: string) =>
  askProvider(
    { name: 'echo', baseUrl, apiKey, fetch },
    {
      path,
      body: {},
      deadline: { signal: new AbortController().signal, timeoutMs: 10_000 },
      retries: 'none',
    },
  )

describe('a provider that repeats its key', () => {
  it('is not repeated, in answers and in refusals', async () => {
    const ascii = 'sk-secret-key-'
    expect(await new Response(await ask('/chat/completions', ascii)).text()).toBe(
      '{"said": "you are [key]é, [key]é"}',
    )
    const refused = ask('/images/generations', ascii).catch((error: unknown) => String(error))
    expect(await refused).not.toContain(ascii)
  })

  it('leaves everything else unchanged, for any boundaries of chunks', async () => {
    const text = `sk-secret ${KEY} sk-secret-key sk-sk-secret-key-é. ü sk-`
    for (const size of [1, 2, 5, 100]) {
      const bytes = Buffer.from(text)
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
        bytes.subarray(at * size, (at + 1) * size),
      )
      const passed = ReadableStream.from<Uint8Array>(chunks).pipeThrough(keyRemover(KEY))
      expect(await new Response(passed).text()).toBe('sk-secret [key] sk-secret-key sk-[key]. ü sk-')
    }
  })
})
