/** The official OpenAI client for JavaScript: chat, a stream, a tool call, a JSON schema, models and an error. */

// The package under test: another version may be installed under another name.
const { default: OpenAI, NotFoundError } = await import(process.env.OPENAI_PACKAGE ?? 'openai')

const MODEL = 'heddle/loom-tiny'

const task = JSON.parse(process.env.TASK)
const client = new OpenAI({ baseURL: `${process.env.BASE_URL}/v1`, apiKey: process.env.API_KEY })
const ask = [{ role: 'user', content: task.question }]
const complete = (fields) =>
  client.chat.completions.create({ model: MODEL, temperature: 0, max_tokens: 60, messages: ask, ...fields })

const chunks = []
for await (const chunk of await complete({ stream: true, stream_options: { include_usage: true } }))
  chunks.push(chunk)

const wanted = [{ role: 'user', content: task.tool_question }]
const called = await complete({ messages: wanted, tools: [task.tool] })
const [{ function: call }] = called.choices[0].message.tool_calls
const schema = { type: 'json_schema', json_schema: { name: 'colour', schema: task.schema } }
const constrained = await complete({ response_format: schema })
const error = await complete({ model: 'local/clients/nobody' }).then(
  () => 'none',
  (refusal) => (refusal instanceof NotFoundError ? `${refusal.status} ${refusal.param}` : String(refusal)),
)
const models = []
for await (const model of client.models.list()) models.push(model.id)

const result = {
  text: (await complete({})).choices[0].message.content,
  streamed: chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta.content ?? '')).join(''),
  usage: chunks.at(-1).usage.completion_tokens,
  tool: [call.name, JSON.parse(call.arguments)],
  json: JSON.parse(constrained.choices[0].message.content),
  error,
  models,
  model: (await client.models.retrieve(MODEL)).id,
  completion: (
    await client.completions.create({ model: MODEL, prompt: 'The answer', max_tokens: 4, temperature: 0 })
  ).choices[0].text,
}
process.stdout.write(`${JSON.stringify(result)}\n`)
