import { expect } from 'vitest'
import { changes, type FieldCases, makesGreedy, question, textOf } from './field-case.ts'

const NOT_A_NUMBER = /number/
const NOT_AN_INTEGER = /integer/
const VOCABULARY = /vocab/

const REPEAT = question('Repeat: apple apple apple apple')

/** Fields that choose tokens, and that end the answer. */
export const samplingCases: FieldCases = {
  frequency_penalty: {
    effect: (ask) => changes(ask, { frequency_penalty: -2 }, REPEAT),
    refused: [
      [2.5, 400, /frequency_penalty/],
      ['much', 422, NOT_A_NUMBER],
    ],
  },
  presence_penalty: {
    // Only tokens of the answer count, so there must be one before it makes a difference.
    effect: (ask) =>
      changes(ask, { presence_penalty: 2 }, { ignore_eos: true, max_tokens: 40, temperature: 1.5, seed: 5 }),
    refused: [
      [-3, 400, /presence_penalty/],
      [{}, 422, NOT_A_NUMBER],
    ],
  },
  repetition_penalty: {
    effect: (ask) => changes(ask, { repetition_penalty: 5 }, REPEAT),
    refused: [
      [0, 400, /greater than zero/],
      [[], 422, NOT_A_NUMBER],
    ],
  },
  logit_bias: {
    async effect(ask) {
      const { choices } = await ask({ logit_bias: { 300: 100 }, max_tokens: 4, return_token_ids: true })
      expect(choices[0].token_ids).toEqual([300, 300, 300, 300])
    },
    refused: [
      [{ a: 1 }, 400, /converted to integer/],
      [{ 999999: 1 }, 400, VOCABULARY],
      [{ 300: 'much' }, 422, NOT_A_NUMBER],
    ],
  },
  repetition_detection: {
    async effect(ask) {
      const endless = { logit_bias: { 300: 100 }, max_tokens: 40, return_token_ids: true }
      const repetition_detection = { max_pattern_size: 2, min_pattern_size: null, min_count: 3 }
      const { choices } = await ask({ ...endless, repetition_detection })
      expect(choices[0].token_ids).toEqual([300, 300, 300])
      expect(choices[0].stop_reason).toBe('repetition_detected')
    },
    refused: [
      [{ max_pattern_size: 2, min_count: 1 }, 400, /min_count/],
      [{ max_pattern_size: 1_000_000, min_count: 2 }, 422, /1000/],
      ['x', 422, /dictionary/],
    ],
  },
  thinking_token_budget: {
    // It needs to know where a thought ends, which HEDDLE_REASONING_PARSER says; this server has none.
    effect: async (ask) =>
      expect(await textOf(ask({ thinking_token_budget: null }))).toBe(await textOf(ask({}))),
    refused: [
      [10, 400, /reasoning/],
      ['x', 422, NOT_AN_INTEGER],
    ],
  },
  max_tokens: {
    async effect(ask) {
      const { choices, usage } = await ask({ max_tokens: 3 })
      expect([usage.completion_tokens, choices[0].finish_reason]).toEqual([3, 'length'])
      const long = await ask({ max_tokens: 2040 })
      expect(long.choices[0].finish_reason).toBe('stop')
    },
    refused: [
      [0, 400, /at least 1/],
      [5000, 400, /max_model_len=2048/],
      [1.5, 422, NOT_AN_INTEGER],
    ],
  },
  max_completion_tokens: {
    async effect(ask) {
      expect((await ask({ max_completion_tokens: 2, max_tokens: 5 })).usage.completion_tokens).toBe(2)
      expect((await ask({ max_completion_tokens: '2' })).usage.completion_tokens).toBe(2)
    },
    refused: [
      [-1, 400, /at least 1/],
      ['few', 422, NOT_AN_INTEGER],
    ],
  },
  min_tokens: {
    async effect(ask) {
      expect((await ask({})).usage.completion_tokens).toBeLessThan(12)
      expect((await ask({ min_tokens: 12 })).usage.completion_tokens).toBeGreaterThanOrEqual(12)
    },
    refused: [
      [-1, 400, /min_tokens/],
      [30, 400, /max_tokens/, { max_tokens: 20 }],
      ['few', 422, NOT_AN_INTEGER],
    ],
  },
  n: {
    async effect(ask) {
      const { choices, usage } = await ask({ n: 3, temperature: 1, max_tokens: 4, ignore_eos: true })
      expect(choices).toHaveLength(3)
      expect(usage.completion_tokens).toBe(12)
      expect((await ask({ n: null })).choices).toHaveLength(1)
    },
    refused: [
      [0, 400, /at least 1/],
      [2, 400, /greedy/, { temperature: 0 }],
      ['x', 422, NOT_AN_INTEGER],
    ],
  },
  seed: {
    async effect(ask) {
      const answers = async (seed: number | null) => {
        const reply = await ask({ seed, temperature: 1.5, n: 3, max_tokens: 12 })
        return reply.choices.map((choice) => choice.message.content)
      }
      expect(await answers(7)).toEqual(await answers(7))
      expect(await answers(7)).not.toEqual(await answers(8))
      // Just outside 64 bits, as the documented bounds are.
      expect(await answers(9_223_372_036_854_776_000)).toEqual(await answers(9_223_372_036_854_776_000))
    },
    refused: [
      [1.5, 422, NOT_AN_INTEGER],
      [1e19, 422, /less than or equal to 9223372036854776000/],
      [-1e19, 422, /greater than or equal to -9223372036854776000/],
      ['x', 422, NOT_AN_INTEGER],
    ],
  },
  temperature: {
    async effect(ask) {
      expect(await textOf(ask({ temperature: 0 }))).toBe(await textOf(ask({ temperature: 0 })))
      await changes(ask, { temperature: '2', seed: 1 })
    },
    refused: [
      [2.5, 400, /\[0, 2\]/],
      [-1, 400, /temperature/],
      ['hot', 422, NOT_A_NUMBER],
    ],
  },
  top_p: {
    effect: (ask) => makesGreedy(ask, { top_p: 1e-6 }),
    refused: [
      [0, 400, /\(0, 1\]/],
      [1.1, 400, /\(0, 1\]/],
      [{}, 422, NOT_A_NUMBER],
    ],
  },
  top_k: {
    async effect(ask) {
      await makesGreedy(ask, { top_k: 1 })
      for (const top_k of [-1, 0]) await changes(ask, { temperature: 2, seed: 1, top_k })
    },
    refused: [
      [-2, 400, /top_k/],
      [1.5, 422, NOT_AN_INTEGER],
    ],
  },
  min_p: {
    effect: (ask) => makesGreedy(ask, { min_p: 1 }),
    refused: [
      [2, 400, /\[0, 1\]/],
      ['x', 422, NOT_A_NUMBER],
    ],
  },
  stop: {
    async effect(ask) {
      const full = await textOf(ask({}))
      const { choices } = await ask({ stop: ' is' })
      expect(choices[0]).toMatchObject({ finish_reason: 'stop', stop_reason: ' is' })
      expect(choices[0].message.content).toBe(full.split(' is')[0])
      expect(await textOf(ask({ stop: ['1x', '2x', '3x', '4x', '5x', '6x', ' is', '7x'] }))).toBe(
        'The answer',
      )
      expect(await textOf(ask({ stop: null }))).toBe(full)
    },
    refused: [
      ['', 400, /empty string/],
      [[1], 422, /string/],
    ],
  },
  stop_token_ids: {
    async effect(ask) {
      const { choices } = await ask({ return_token_ids: true })
      const third = choices[0].token_ids?.[2] ?? -1
      const stopped = await ask({ stop_token_ids: [third] })
      expect(stopped.choices[0]).toMatchObject({ finish_reason: 'stop', stop_reason: third })
      expect(stopped.usage.completion_tokens).toBe(3)
    },
    refused: [
      [[999_999], 400, VOCABULARY],
      ['x', 422, /list/],
    ],
  },
  include_stop_str_in_output: {
    async effect(ask) {
      expect(await textOf(ask({ stop: ' is', include_stop_str_in_output: true }))).toBe('The answer is')
    },
    refused: [['perhaps', 422, /boolean/]],
  },
  ignore_eos: {
    async effect(ask) {
      const { choices, usage } = await ask({ ignore_eos: true, max_tokens: 15 })
      expect([usage.completion_tokens, choices[0].finish_reason]).toEqual([15, 'length'])
    },
    refused: [[3, 422, /boolean/]],
  },
  allowed_token_ids: {
    async effect(ask) {
      const { choices } = await ask({ allowed_token_ids: [300, 301], return_token_ids: true })
      for (const id of choices[0].token_ids ?? []) expect([300, 301]).toContain(id)
    },
    refused: [
      [[], 400, /empty/],
      [[999_999], 400, VOCABULARY],
      [['a'], 422, NOT_AN_INTEGER],
    ],
  },
  bad_words: {
    async effect(ask) {
      expect(await textOf(ask({}))).toContain('The')
      expect(await textOf(ask({ bad_words: ['The'] }))).not.toContain('The')
      expect(await textOf(ask({ bad_words: null }))).toContain('The')
    },
    refused: [
      [[''], 400, /empty string/],
      [['\ud800'], 400, /surrogate/],
      ['The', 422, /list/],
    ],
  },
  use_beam_search: {
    async effect(ask) {
      const beams = await ask({ use_beam_search: true, n: 3, max_tokens: 8 })
      expect(new Set(beams.choices.map((choice) => choice.message.content)).size).toBe(3)
    },
    refused: [['x', 422, /boolean/]],
  },
  length_penalty: {
    effect: (ask) =>
      changes(
        ask,
        { length_penalty: -3 },
        { use_beam_search: true, n: 2, max_tokens: 20, length_penalty: 5 },
      ),
    refused: [['x', 422, NOT_A_NUMBER]],
  },
  structured_outputs: {
    async effect(ask) {
      const answer = (constraint: object) => textOf(ask({ structured_outputs: constraint, max_tokens: 60 }))
      const integer = { type: 'integer' }
      expect(await answer({ json: integer })).toMatch(/^-?\d+$/)
      expect(await answer({ json: JSON.stringify(integer) })).toMatch(/^-?\d+$/)
      expect(await answer({ regex: '[abc]{3}' })).toMatch(/^[abc]{3}$/)
      expect(['red', 'blue']).toContain(await answer({ choice: ['red', 'blue'] }))
      expect(await answer({ grammar: 'root ::= "yes" | "no"' })).toMatch(/^(yes|no)$/)
      expect(JSON.parse(await answer({ json_object: true }))).toBeTypeOf('object')
      const format = { type: 'json_schema', json_schema: integer }
      expect(await answer({ structural_tag: JSON.stringify({ type: 'structural_tag', format }) })).toMatch(
        /^-?\d+$/,
      )
      const options = { disable_fallback: false, _backend: 'auto', _backend_was_auto: true }
      const noSpace = { disable_any_whitespace: true, whitespace_pattern: ' ' }
      expect(await answer({ choice: ['red'], ...options, ...noSpace })).toBe('red')
      expect(await answer({ json: integer, ...options, disable_any_whitespace: false })).toMatch(/^-?\d+$/)
    },
    refused: [
      [{}, 400, /none are specified/],
      [{ regex: 'a', choice: ['b'] }, 400, /only use one/],
      [{ regex: '[' }, 400, /regex/],
      [{ choice: 'red' }, 422, /list/],
      [{ choice: Array(2000).fill('red') }, 422, /at most 1000/],
      [{ grammar: 'root ::= root' }, 400, /constraint/],
      [{ json: {}, disable_any_whitespace: true }, 400, /disable_any_whitespace is not supported/],
      [{ json_object: true, whitespace_pattern: ' ' }, 400, /whitespace_pattern is not supported/],
      [{ regex: 'a', disable_fallback: true }, 400, /disable_fallback is not supported/],
      [{ regex: 'a', _backend: 'xgrammar' }, 400, /_backend is not supported/],
    ],
  },
  response_format: {
    async effect(ask) {
      const answer = (response_format: object) => textOf(ask({ response_format, max_tokens: 60 }))
      expect(await answer({ type: 'text' })).toBe(await textOf(ask({})))
      expect(JSON.parse(await answer({ type: 'json_object' }))).toBeTypeOf('object')
      const json_schema = { name: 'colour', strict: true, schema: { enum: ['red', 'blue'] } }
      expect(['red', 'blue']).toContain(JSON.parse(await answer({ type: 'json_schema', json_schema })))
      const format = { type: 'const_string', value: 'fixed' }
      expect(await answer({ type: 'structural_tag', format })).toBe('fixed')
    },
    refused: [
      [{ type: 'json_schema' }, 400, /json_schema/],
      [{ type: 'json_schema', json_schema: {} }, 422, /required/],
      [{ type: 'xml' }, 422, /json_schema/],
    ],
  },
}
