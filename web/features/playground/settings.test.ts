import { describe, expect, it } from 'vitest'
import { countSettings, NO_SETTINGS, requestOf } from './settings.ts'

const USER = { role: 'user', content: 'Hi' }

describe('requestOf', () => {
  it('sends nothing that was not set', () => {
    expect(requestOf('m', NO_SETTINGS, [USER])).toEqual({ model: 'm', messages: [USER] })
  })

  it('sends what was set, by its type', () => {
    const settings = {
      system: 'Be brief',
      parameters: { temperature: '0.5', max_tokens: '8', stop: 'a\nb', ignore_eos: 'true', top_p: '' },
      tools: '[]',
      schema: '{"type":"object"}',
      others: '{"logit_bias":{"1":-1}}',
    }
    expect(requestOf('m', settings, [USER])).toEqual({
      model: 'm',
      messages: [{ role: 'system', content: 'Be brief' }, USER],
      temperature: 0.5,
      max_tokens: 8,
      stop: ['a', 'b'],
      ignore_eos: true,
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: { type: 'object' } } },
      logit_bias: { 1: -1 },
    })
    expect(countSettings(settings)).toBe(8)
  })

  it('says what cannot be sent', () => {
    const wrong = (more: object) => () => requestOf('m', { ...NO_SETTINGS, ...more }, [])
    expect(wrong({ parameters: { top_k: '1.5' } })).toThrow('top_k is not a whole number')
    expect(wrong({ tools: '{}' })).toThrow('The tools are not a list')
    expect(wrong({ schema: '{' })).toThrow('The schema: not JSON')
    expect(wrong({ others: '[]' })).toThrow('The other fields are not an object')
  })
})
