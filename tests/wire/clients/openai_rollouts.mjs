/**
 * Rollouts with the official OpenAI client: several turns with tools, parallel calls, streams and several choices.
 * Prints the conversations as a program would train on them: choices as they came.
 */
const { OpenAI } = await import(process.env.OPENAI_PACKAGE)
const client = new OpenAI({ baseURL: `${process.env.BASE_URL}/v1`, apiKey: process.env.API_KEY })
const task = JSON.parse(process.env.TASK)

/** The choices of one reply; of a stream, with the tokens of its chunks. */
async function ask(messages, enable_thinking, more = {}) {
  const chat_template_kwargs = { enable_thinking }
  const asked = { model: task.model, messages, max_tokens: 14, logprobs: true, chat_template_kwargs, ...more }
  const reply = await client.chat.completions.create(asked)
  if (more.stream !== true) return reply.choices
  const chunks = []
  for await (const { choices } of reply) chunks.push(...choices)
  return [
    {
      index: 0,
      finish_reason: chunks.at(-1).finish_reason,
      logprobs: { content: chunks.flatMap(({ logprobs }) => logprobs?.content ?? []) },
      message: { role: 'assistant', content: chunks.map(({ delta }) => delta.content ?? '').join('') },
    },
  ]
}

/** Each answer is sent back whole, followed by the next messages. */
async function talk(replies, thinking, more) {
  const elements = [task.first]
  const messages = [task.first]
  for (const following of [...replies, []]) {
    const [choice] = await ask(messages, thinking, more)
    messages.push(choice.message, ...following)
    elements.push(choice, ...following)
  }
  return elements
}

const rollouts = []
for (const thinking of [false, true]) {
  rollouts.push(await talk([[task.next], [task.next]], thinking))
  rollouts.push(await talk([task.tools_used], thinking, { tools: task.tools }))
  rollouts.push(await talk([[task.next]], thinking, { stream: true }))
  for (const choice of await ask([task.first], thinking, { n: 2 })) rollouts.push([task.first, choice])
}
process.stdout.write(`${JSON.stringify({ rollouts })}\n`)
