import { describe, expect, it } from 'vitest'
import { predictStructured } from './structured-completion.ts'

describe('a model that is asked for JSON', () => {
  const model = {
    _class_name: 'LLMStructuredCompletionModel' as const,
    llm_model_id: 'm',
    default_params: { response_format: 'json_object' as const },
  }
  const answered = (content: string): Promise<unknown> =>
    predictStructured(
      model,
      { user_input: 'x', template_vars: {} },
      {
        projectId: 'e/p',
        objects: { read: () => Promise.reject(new Error('unused')) },
        ask: async () => content,
      },
    )

  it('puts out what it answers, up to the levels that clients can read', async () => {
    const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)
    expect(JSON.stringify(await answered(` ${nested(1_000)} `))).toBe(nested(1_000))
    const message = "The model's answer is nested too deeply"
    await expect(answered(nested(1_001))).rejects.toMatchObject({ message })
  })
})
