import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readProviders } from './providers.ts'

const GROQ = { base_url: 'https://groq.example/openai/v1', api_key_env: 'GROQ_KEY' }

function read(settings: unknown, env: NodeJS.ProcessEnv = {}): Record<string, unknown> {
  const HEDDLE_PROVIDERS = typeof settings === 'string' ? settings : JSON.stringify(settings)
  return Object.fromEntries(readProviders({ HEDDLE_PROVIDERS, ...env }).providers)
}

describe('HEDDLE_PROVIDERS', () => {
  it('gives each provider its URL and key, from the text or from another variable', () => {
    const local = { base_url: 'http://127.0.0.1:11434/v1' }
    expect(read({ groq: GROQ, local, own: { ...local, api_key: 'k' } }, { GROQ_KEY: 'g' })).toEqual({
      groq: { baseUrl: GROQ.base_url, apiKey: 'g' },
      local: { baseUrl: local.base_url, apiKey: undefined },
      own: { baseUrl: local.base_url, apiKey: 'k' },
    })
  })

  it('may be the path of a file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'heddle-providers-'))
    const path = join(folder, 'providers.json')
    await writeFile(path, JSON.stringify({ groq: GROQ }))
    expect(read(path, { GROQ_KEY: 'g' })).toHaveProperty('groq')
    await rm(folder, { recursive: true })
    expect(() => read(path)).toThrow(/HEDDLE_PROVIDERS: ENOENT/)
  })

  it('is not needed for OpenAI, whose key is enough, but wins over it', () => {
    const env = { OPENAI_API_KEY: 'o' }
    expect(Object.fromEntries(readProviders(env).providers)).toEqual({
      openai: { baseUrl: 'https://api.openai.com/v1', apiKey: 'o' },
    })
    const proxy = { base_url: 'http://proxy.example/v1', api_key: 'p' }
    expect(read({ openai: proxy }, env)).toEqual({ openai: { baseUrl: proxy.base_url, apiKey: 'p' } })
    expect(readProviders({ OPENAI_API_KEY: '', HEDDLE_PROVIDERS: ' ' }).providers.size).toBe(0)
  })

  it.each([
    [{ groq: GROQ }, 'groq: GROQ_KEY is not set'],
    [{ groq: { ...GROQ, api_key: 'k' } }, 'groq: has api_key and api_key_env'],
    [{ groq: { base_url: 'file:///etc' } }, 'groq.base_url: must be an http or https URL'],
    [{ groq: { ...GROQ, key: 'k' } }, 'groq: Unrecognized key: "key"'],
    [{ 'a/b': GROQ }, 'a/b: '],
    ['{"groq": secret', 'the text is not JSON'],
    ['[]', 'ENOENT'],
  ])('%j is refused with %j', (settings, message) => {
    const refused = (): unknown => read(settings)
    expect(refused).toThrow(`HEDDLE_PROVIDERS: ${message}`)
    expect(refused).not.toThrow(/secret/)
  })
})
