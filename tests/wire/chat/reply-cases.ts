import { expect } from 'vitest'
import { type FieldCases, textOf, unsupported } from './field-case.ts'

/** Fields that add to the reply, and fields that are only passed through. */
export const replyCases: FieldCases = {
  logprobs: {
    async effect(ask) {
      for (const logprobs of [true, 'yes']) {
        const { choices, usage } = await ask({ logprobs })
        const items = choices[0].logprobs?.content ?? []
        expect(items).toHaveLength(usage.completion_tokens)
        for (const item of items)
          expect(item).toMatchObject({ logprob: expect.any(Number), top_logprobs: [] })
        expect(items.map((item) => item.token).join('')).toContain(choices[0].message.content)
      }
      expect((await ask({ logprobs: null })).choices[0].logprobs).toBeNull()
    },
    refused: [['maybe', 422, /boolean/]],
  },
  top_logprobs: {
    async effect(ask) {
      const { choices } = await ask({ logprobs: true, top_logprobs: 3 })
      for (const item of choices[0].logprobs?.content ?? []) expect(item.top_logprobs).toHaveLength(3)
    },
    refused: [
      [2, 400, /logprobs/],
      [21, 400, /20/, { logprobs: true }],
      [-2, 400, /top_logprobs|logprobs/, { logprobs: true }],
      ['x', 422, /integer/],
    ],
  },
  prompt_logprobs: {
    async effect(ask) {
      const { prompt_logprobs, usage } = await ask({ prompt_logprobs: 1 })
      expect(prompt_logprobs).toHaveLength(usage.prompt_tokens)
      expect(prompt_logprobs?.[0]).toBeNull()
      const [item] = Object.values(prompt_logprobs?.[1] ?? {})
      expect(item).toMatchObject({ logprob: expect.any(Number), decoded_token: expect.any(String) })
    },
    refused: [
      [1, 400, /stream/, { stream: true }],
      [21, 400, /20/],
      [-2, 400, /prompt_logprobs/],
      ['x', 422, /integer/],
    ],
  },
  skip_special_tokens: {
    async effect(ask) {
      const beyond = { ignore_eos: true, max_tokens: 12 }
      expect(await textOf(ask(beyond))).not.toContain('<|im_end|>')
      expect(await textOf(ask({ ...beyond, skip_special_tokens: false }))).toContain('<|im_end|>')
    },
    refused: [['x', 422, /boolean/]],
  },
  spaces_between_special_tokens: {
    // A fast tokenizer never adds any there.
    async effect(ask) {
      const shown = { ignore_eos: true, max_tokens: 12, skip_special_tokens: false }
      const answer = await textOf(ask(shown))
      expect(await textOf(ask({ ...shown, spaces_between_special_tokens: false }))).toBe(answer)
    },
    refused: [['x', 422, /boolean/]],
  },
  return_token_ids: {
    async effect(ask) {
      const { choices, prompt_token_ids, usage } = await ask({ return_token_ids: true })
      expect(choices[0].token_ids).toHaveLength(usage.completion_tokens)
      expect(prompt_token_ids).toHaveLength(usage.prompt_tokens)
      expect(await ask({ return_token_ids: false })).toMatchObject({ prompt_token_ids: null })
    },
    refused: [['x', 422, /boolean/]],
  },
  return_tokens_as_token_ids: {
    async effect(ask) {
      const fields = { logprobs: true, return_token_ids: true }
      const { choices } = await ask({ ...fields, return_tokens_as_token_ids: true })
      const tokens = choices[0].logprobs?.content.map((item) => item.token)
      expect(tokens).toEqual(choices[0].token_ids?.map((id) => `token_id:${id}`))
      const plain = await ask(fields)
      expect(plain.choices[0].logprobs?.content[0]?.token).not.toContain('token_id')
    },
    refused: [['x', 422, /boolean/]],
  },
  stream: {
    // What a stream holds is tested in stream.ts.
    async effect(ask) {
      expect(await textOf(ask({ stream: false }))).toBe(await textOf(ask({ stream: null })))
    },
    refused: [['x', 422, /boolean/]],
  },
  stream_options: {
    async effect(ask) {
      for (const stream_options of [{}, null]) await ask({ stream_options })
    },
    refused: [
      [{ include_usage: true }, 400, /stream/],
      [{ include_usage: 'x' }, 422, /boolean/],
      ['x', 422, /dictionary/],
    ],
  },
  request_id: {
    async effect(ask) {
      expect((await ask({ request_id: 'mine' })).id).toBe('chatcmpl-mine')
      expect((await ask({ request_id: 'mine' }, { 'x-request-id': 'header' })).id).toBe('chatcmpl-header')
    },
    refused: [[5, 422, /string/]],
  },
  user: {
    async effect(ask) {
      expect(await textOf(ask({ user: 'me', service_tier: 'auto', banana: 1 }))).toBe(await textOf(ask({})))
    },
    refused: [[5, 422, /string/]],
  },
  priority: {
    async effect(ask) {
      expect(await textOf(ask({ priority: 0 }))).toBe(await textOf(ask({ priority: null })))
    },
    refused: [
      [1, 400, /priority/],
      [-1, 400, /priority/],
      ['x', 422, /integer/],
    ],
  },
  logits_processors: {
    async effect(ask) {
      expect(await textOf(ask({ logits_processors: null }))).toBe(await textOf(ask({})))
      expect(await textOf(ask({ logits_processors: [] }))).toBe(await textOf(ask({})))
    },
    refused: [
      [['module.Processor'], 400, /not supported/],
      [[{ qualname: 'x', args: [1], kwargs: { a: 1 } }], 400, /not supported/],
      [[{ args: [1] }], 422, /required/],
      [[{ qualname: 'x', other: 1 }], 422, /other|Unrecognized/],
    ],
  },
  ...unsupported('media_io_kwargs', {}, { video: { num_frames: 4 } }),
  ...unsupported('return_token_offsets', false, true),
  ...unsupported('stream_interval', null, 4),
  ...unsupported('watermarking', false, true),
  return_prompt_text: {
    async effect(ask) {
      const [without, other] = [await ask({}), await ask({ return_prompt_text: true })]
      expect(without.choices[0].message).toEqual(other.choices[0].message)
      expect(JSON.stringify(without)).not.toContain('What is 2 + 3?')
      expect(JSON.stringify(other)).toContain('What is 2 + 3?')
    },
    refused: [['x', 422, /boolean/]],
  },
  logprob_token_ids: {
    async effect(ask) {
      const ids = { logprobs: true, return_tokens_as_token_ids: true, logprob_token_ids: [300, 301] }
      const { choices } = await ask({ ...ids, max_tokens: 2 })
      for (const { top_logprobs } of choices[0].logprobs?.content ?? [])
        expect(top_logprobs.map(({ token }) => token)).toEqual(
          expect.arrayContaining(['token_id:300', 'token_id:301']),
        )
    },
    refused: [
      [[300], 400, /logprobs. must be set/],
      [[999_999], 400, /vocab/, { logprobs: true }],
      ['x', 422, /list/],
    ],
  },
  kv_transfer_params: {
    // Without a connector the engine has nothing to transfer.
    async effect(ask) {
      expect(await textOf(ask({ kv_transfer_params: { a: 1 } }))).toBe(await textOf(ask({})))
    },
    refused: [['x', 422, /dictionary/]],
  },
  vllm_xargs: {
    async effect(ask) {
      expect(await textOf(ask({ vllm_xargs: { a: 1, b: ['x', 2] } }))).toBe(await textOf(ask({})))
    },
    refused: [
      [{ a: { b: 1 } }, 422, /string|number/],
      ['x', 422, /dictionary/],
    ],
  },
  engine_xargs: {
    async effect(ask) {
      expect(await textOf(ask({ engine_xargs: { a: 'x' } }))).toBe(await textOf(ask({})))
    },
    refused: [[{ a: { b: 1 } }, 422, /string|number/]],
  },
}
