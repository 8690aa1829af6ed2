import { expect } from 'vitest'
import { soonOnReplicas } from '../replicas.ts'
import { WEATHER_QUESTION, WEATHER_TOOL } from '../weather-tool.ts'
import { type FieldCases, question, textOf } from './field-case.ts'

const PREFILL = {
  messages: [
    { role: 'user', content: 'What is 2 + 3?' },
    { role: 'assistant', content: 'The an' },
  ],
}

const TOOLS = { tools: [WEATHER_TOOL], max_tokens: 100, ...question(WEATHER_QUESTION) }
const NAMED = { type: 'function', function: { name: 'get_weather' } }

/** A template that writes its arguments instead of a conversation. */
const SHOW = (expression: string) => ({ chat_template: `{{ ${expression} }}`, prompt_logprobs: 0 })

/** Fields of the conversation, and of the template that renders it. */
export const conversationCases: FieldCases = {
  messages: {
    async effect(ask) {
      const answer = await textOf(ask(question('What is 2 + 3?')))
      expect(await textOf(ask(question([{ type: 'text', text: 'What is 2 + 3?' }])))).toBe(answer)
      for (const role of ['developer', 'function', 'banana']) {
        expect((await ask({ messages: [{ role, content: 'hi' }] })).choices).toHaveLength(1)
      }
      expect(
        (await ask({ messages: [{ role: 'user' }, { role: 'tool', content: 'x' }] })).choices,
      ).toHaveLength(1)
      const thought = { role: 'assistant', content: 'x', reasoning_content: 'y' }
      expect((await ask({ messages: [thought, { role: 'user', content: null }] })).choices).toHaveLength(1)
    },
    refused: [
      [undefined, 422, /required/],
      [null, 422, /list/],
      ['hi', 422, /list/],
      [[], 400, /empty conversation/],
      [[{ content: 'no role' }], 422, /required/],
      [[{ role: 'user', content: 5 }], 422, /string/],
      [[{ role: 'user', content: [{ text: 'no type' }] }], 422, /required/],
      [
        question([{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }]).messages,
        400,
        /multimodal/,
      ],
      [question('apple '.repeat(3000)).messages, 400, /maximum context length/],
    ],
  },
  tools: {
    async effect(ask) {
      const { choices } = await ask(TOOLS)
      expect(choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } })
      const [call] = choices[0].message.tool_calls ?? []
      expect(call?.id).toMatch(/^chatcmpl-tool-/)
      expect(call?.function.name).toBe('get_weather')
      expect(JSON.parse(call?.function.arguments ?? '')).toEqual({ city: 'Paris' })
    },
    refused: [
      [[], 400, /empty array/],
      [[{ type: 'function' }], 422, /required/],
      [[{ type: 'other', function: { name: 'x' } }], 422, /function/],
    ],
  },
  tool_choice: {
    async effect(ask) {
      const auto = await ask({ ...TOOLS, tool_choice: 'auto' })
      expect(auto.choices[0].message.tool_calls).toHaveLength(1)
      const required = await ask({ ...TOOLS, ...question('Hello'), tool_choice: 'required' })
      expect(required.choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { content: '' } })
      const named = await ask({ ...TOOLS, ...question('Hello'), tool_choice: NAMED })
      expect(named.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: '' } })
      expect(named.choices[0].message.tool_calls?.[0]?.function.name).toBe('get_weather')
      const parameters = { type: 'object', properties: { hue: { enum: ['red', 'blue'] } }, required: ['hue'] }
      const tools = [{ type: 'function', function: { name: 'paint', parameters } }]
      for (const tool_choice of ['required', { type: 'function', function: { name: 'paint' } }]) {
        const painted = await ask({ ...TOOLS, tools, tool_choice })
        const called = painted.choices[0].message.tool_calls?.[0]?.function.arguments ?? ''
        expect(['red', 'blue']).toContain(JSON.parse(called).hue)
      }
      const none = await ask({ ...TOOLS, tool_choice: 'none' })
      expect(none.choices[0].message).not.toHaveProperty('tool_calls')
      expect(await textOf(ask({ tool_choice: 'none' }))).toBe(await textOf(ask({})))
    },
    refused: [
      ['auto', 400, /tools/],
      ['required', 400, /tools/],
      [NAMED, 400, /tools/],
      [{ type: 'function', function: { name: 'other' } }, 400, /does not match/, TOOLS],
      ['sometimes', 422, /auto/],
    ],
  },
  parallel_tool_calls: {
    async effect(ask) {
      // The model calls once a turn; a constraint makes it call twice.
      const call =
        '<tool_call>\\n\\{"name": "get_weather", "arguments": \\{"city": "(Paris|Rome)"\\}\\}\\n</tool_call>'
      const twice = { ...TOOLS, structured_outputs: { regex: `${call}\\n${call}` } }
      expect((await ask(twice)).choices[0].message.tool_calls).toHaveLength(2)
      const one = await ask({ ...twice, parallel_tool_calls: false })
      expect(one.choices[0].message.tool_calls).toHaveLength(1)
    },
    refused: [['x', 422, /boolean/]],
  },
  reasoning_effort: {
    async effect(ask) {
      const low = await ask({ ...SHOW('reasoning_effort'), reasoning_effort: 'low' })
      const high = await ask({ ...SHOW('reasoning_effort'), reasoning_effort: 'high' })
      expect(low.prompt_logprobs).not.toEqual(high.prompt_logprobs)
      await ask({ reasoning_effort: null })
    },
    refused: [
      ['huge', 422, /low/],
      [3, 422, /low/],
    ],
  },
  include_reasoning: {
    // The small model does not reason, so its reply stays as it is.
    async effect(ask) {
      const { message } = (await ask({ include_reasoning: false })).choices[0]
      expect(message).toMatchObject({ reasoning: null, reasoning_content: null })
      expect(message.content).toBe(await textOf(ask({})))
    },
    refused: [['x', 422, /boolean/]],
  },
  add_generation_prompt: {
    async effect(ask) {
      const [full, bare] = [await ask({}), await ask({ add_generation_prompt: false })]
      expect(bare.usage.prompt_tokens).toBeLessThan(full.usage.prompt_tokens)
    },
    refused: [
      [true, 400, /cannot both/, { continue_final_message: true }],
      ['x', 422, /boolean/],
    ],
  },
  continue_final_message: {
    async effect(ask) {
      const closed = await ask(PREFILL)
      const open = await ask({ ...PREFILL, continue_final_message: true })
      expect(open.usage.prompt_tokens).toBeLessThan(closed.usage.prompt_tokens)
      const explicit = { ...PREFILL, continue_final_message: true, add_generation_prompt: false }
      expect(await textOf(ask(explicit))).toBe(open.choices[0].message.content)
    },
    refused: [
      [true, 400, /cannot both/, { add_generation_prompt: true }],
      ['x', 422, /boolean/],
    ],
  },
  echo: {
    async effect(ask) {
      const request = { ...PREFILL, continue_final_message: true }
      expect(await textOf(ask({ ...request, echo: true }))).toBe(`The an${await textOf(ask(request))}`)
    },
    refused: [['x', 422, /boolean/]],
  },
  add_special_tokens: {
    // The tokenizer adds none to any text.
    async effect(ask) {
      expect(await textOf(ask({ add_special_tokens: true }))).toBe(await textOf(ask({})))
    },
    refused: [['x', 422, /boolean/]],
  },
  documents: {
    async effect(ask) {
      const shown = (documents: object[]) => ask({ ...SHOW('documents[0].n ~ documents[0].text'), documents })
      const number = await shown([{ text: 'abc', n: 3 }])
      expect(number.prompt_logprobs).toEqual((await shown([{ text: 'abc', n: '3' }])).prompt_logprobs)
      expect(number.prompt_logprobs).not.toEqual((await shown([{ text: 'abd', n: 3 }])).prompt_logprobs)
      await ask({ documents: null })
    },
    refused: [
      [['text'], 422, /dictionary/],
      ['text', 422, /list/],
    ],
  },
  chat_template: {
    async effect(ask) {
      const { usage } = await ask({ chat_template: 'a{{ messages[0].content }}' })
      expect(usage.prompt_tokens).toBeLessThan((await ask({})).usage.prompt_tokens)
    },
    refused: [
      ['{{ raise_exception("never this") }}', 400, /never this/],
      ['{% if %}', 400, /expression/i],
      ['{{ nothing.at.all }}', 400, /undefined/],
      ['{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}', 400, /took longer/],
      [5, 422, /string/],
    ],
  },
  chat_template_kwargs: {
    async effect(ask) {
      const shown = (x: string) => ask({ ...SHOW('x'), chat_template_kwargs: { x, tokenize: true } })
      expect((await shown('one two')).prompt_logprobs).not.toEqual((await shown('three')).prompt_logprobs)
    },
    refused: [['x', 422, /dictionary/]],
  },
  mm_processor_kwargs: {
    async effect(ask) {
      expect(await textOf(ask({ mm_processor_kwargs: null }))).toBe(await textOf(ask({})))
    },
    refused: [
      [{ a: 1 }, 400, /HEDDLE_MM_PROCESSOR_KWARGS/],
      ['x', 422, /dictionary/],
    ],
  },
  truncate_prompt_tokens: {
    async effect(ask) {
      expect((await ask({ truncate_prompt_tokens: 3 })).usage.prompt_tokens).toBe(3)
      expect(await textOf(ask({ truncate_prompt_tokens: -1 }))).toBe(await textOf(ask({})))
    },
    refused: [
      [-2, 422, /greater than or equal to -1/],
      [0, 400, /empty/],
      [9_223_372_036_854_776_000, 400, /max_model_len/],
      ['x', 422, /number|integer/],
    ],
  },
  truncation_side: {
    async effect(ask) {
      const of = async (truncation_side: string) =>
        (await ask({ truncation_side, truncate_prompt_tokens: 3, return_token_ids: true, max_tokens: 1 }))
          .prompt_token_ids
      const all = (await ask({ return_token_ids: true, max_tokens: 1 })).prompt_token_ids ?? []
      expect([await of('left'), await of('right')]).toEqual([all.slice(-3), all.slice(0, 3)])
    },
    refused: [['middle', 422, /left.*right/]],
  },
  cache_salt: {
    async effect(ask) {
      const long = question('apple '.repeat(300))
      const cached = async (cache_salt: string) =>
        (await ask({ ...long, cache_salt, max_tokens: 1 })).usage.prompt_tokens_details.cached_tokens
      expect(await cached('one')).toBe(0)
      // Each of several engines has to have seen it once.
      await soonOnReplicas(async () => expect(await cached('one')).toBeGreaterThan(0))
      expect(await cached('two')).toBe(0)
    },
    refused: [
      ['', 400, /cache_salt/],
      [5, 422, /string/],
    ],
  },
  model: {
    async effect(ask) {
      expect((await ask({ model: null })).model).toBe('heddle/loom-tiny')
      expect(await textOf(ask({ model: 'heddle/loom-tiny' }))).toBe(await textOf(ask({})))
    },
    refused: [[5, 422, /string/]],
  },
}
