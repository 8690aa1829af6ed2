import { expect, it } from 'vitest'
import { withoutTokens } from './checked-tokens.ts'
import { TrajectoryGroup } from './wire.ts'

const choice = (content: unknown) => ({
  finish_reason: 'stop',
  message: { role: 'assistant', content: 'a' },
  logprobs: { content, refusal: null },
})

it('only sampled tokens that the schema takes are left out of a group, in every history', () => {
  const group = (content: unknown) => ({
    trajectories: [
      {
        messages_and_choices: [{ role: 'user', content: 'q' }, choice(content)],
        additional_histories: [{ messages_and_choices: [choice(content)] }],
        reward: 1,
      },
    ],
    metadata: { a: 1 },
  })
  const right = [
    { token: 'token_id:1', logprob: -0.5, bytes: [1] },
    { token: '', logprob: null },
  ]
  expect(withoutTokens(group(right))).toEqual(group([]))
  for (const wrong of [
    [...right, { token: 1, logprob: 0 }],
    [{ token: 'a' }],
    [null],
    'a',
    [{ logprob: 0 }],
  ]) {
    expect(withoutTokens(group(wrong))).toEqual(group(wrong))
    expect(TrajectoryGroup.safeParse(group(wrong)).success).toBe(false)
  }
  for (const odd of [null, [], 'a', { trajectories: [null, { messages_and_choices: 'a' }] }])
    expect(withoutTokens(odd)).toEqual(odd)
})
