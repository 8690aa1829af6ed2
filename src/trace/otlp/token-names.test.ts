import { describe, expect, it } from 'vitest'
import { useTestServer } from '../../testing.ts'
import { callOf } from './test-spans.ts'

const server = useTestServer()

type Counts = Record<string, number>

/** Counts of tokens as the libraries of each convention send them, and the usage that is made of them. */
const NAMES: [library: string, sent: Record<string, unknown>, usage: Counts][] = [
  [
    'OpenInference',
    {
      'llm.token_count.prompt': 10,
      'llm.token_count.prompt_details.cache_read': 4,
      'llm.token_count.prompt_details.cache_write': 3,
    },
    { prompt_tokens: 10, cache_read_input_tokens: 4, cache_creation_input_tokens: 3 },
  ],
  [
    'OpenLLMetry before 0.5',
    {
      'gen_ai.usage.prompt_tokens': 10,
      'gen_ai.usage.cache_read_input_tokens': 4,
      'gen_ai.usage.cache_creation_input_tokens': 3,
    },
    { prompt_tokens: 10, cache_read_input_tokens: 4, cache_creation_input_tokens: 3 },
  ],
  [
    'Sentry',
    {
      'gen_ai.usage.input_tokens.cached': 4,
      'gen_ai.usage.input_tokens.cache_write': 3,
      'gen_ai.usage.input_tokens': 10,
    },
    { input_tokens: 10, cache_read_input_tokens: 4, cache_creation_input_tokens: 3 },
  ],
  [
    "Vercel's AI SDK",
    {
      'ai.usage.inputTokens': 5,
      'ai.usage.outputTokens': 6,
      'ai.usage.totalTokens': 12,
      'ai.usage.inputTokenDetails.cacheReadTokens': 2,
      'ai.usage.inputTokenDetails.cacheWriteTokens': 1,
    },
    {
      input_tokens: 5,
      output_tokens: 6,
      total_tokens: 12,
      cache_read_input_tokens: 2,
      cache_creation_input_tokens: 1,
    },
  ],
  ["embeddings of Vercel's AI SDK", { 'ai.usage.tokens': 7 }, { input_tokens: 7 }],
  [
    'MLflow',
    {
      'mlflow.chat.tokenUsage':
        '{"input_tokens": 3, "output_tokens": 4, "total_tokens": 7, "cache_read_input_tokens": 2}',
    },
    { input_tokens: 3, output_tokens: 4, total_tokens: 7, cache_read_input_tokens: 2 },
  ],
]

describe('POST /otel/v1/traces', () => {
  it.each(NAMES)('200 with the tokens of %s', async (_library, sent, usage) => {
    const { summary } = await callOf(server, { attributes: sent })
    expect(summary['usage']).toEqual({ usage })
  })

  it("200 with the tokens of a request of Vercel's AI SDK, and without those that the whole operation repeats", async () => {
    const usage = { 'ai.usage.inputTokens': 5, 'ai.usage.promptTokens': 5, 'ai.usage.outputTokens': 6 }
    const usageOf = async (operation: string) =>
      (await callOf(server, { attributes: { ...usage, 'ai.operationId': operation } })).summary['usage']
    expect(await usageOf('ai.streamText.doStream')).toMatchObject({ usage: { output_tokens: 6 } })
    expect(await usageOf('ai.streamText')).toBeUndefined()
  })
})
