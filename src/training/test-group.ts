/** One attempt at one task; `fake` tells the trainer how to behave. */
export function group(fake?: string): object {
  const choice = {
    finish_reason: 'stop',
    index: 0,
    logprobs: {
      content: [{ token: 'token_id:13', bytes: [104], logprob: -0.5, top_logprobs: [] }],
      refusal: null,
    },
    message: { content: 'a ] , " \\ { b', role: 'assistant' },
  }
  const trajectory = {
    messages_and_choices: [{ role: 'user', content: 'hi' }, choice],
    reward: 1,
    tools: null,
  }
  return { trajectories: [trajectory], exceptions: [], metadata: {}, ...(fake !== undefined && { fake }) }
}
