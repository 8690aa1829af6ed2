/** The AI SDK's OpenAI-compatible provider: text, a stream, a tool call, an object of a schema and an error. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { APICallError, generateText, jsonSchema, Output, streamText, tool } from 'ai'

const task = JSON.parse(process.env.TASK)
const heddle = createOpenAICompatible({
  name: 'heddle',
  baseURL: `${process.env.BASE_URL}/v1`,
  apiKey: process.env.API_KEY,
  includeUsage: true,
  supportsStructuredOutputs: true,
})
const model = heddle('heddle/loom-tiny')
const common = { model, temperature: 0, maxOutputTokens: 60, maxRetries: 0 }

const stream = streamText({ ...common, prompt: task.question })
let streamed = ''
for await (const text of stream.textStream) streamed += text

const { name, description, parameters } = task.tool.function
const called = await generateText({
  ...common,
  prompt: task.tool_question,
  tools: { [name]: tool({ description, inputSchema: jsonSchema(parameters) }) },
})
const constrained = await generateText({
  ...common,
  prompt: task.question,
  output: Output.object({ schema: jsonSchema(task.schema) }),
})
const error = await generateText({ ...common, model: heddle('local/clients/nobody'), prompt: 'x' }).then(
  () => 'none',
  (refusal) =>
    APICallError.isInstance(refusal)
      ? `${refusal.statusCode} ${JSON.parse(refusal.responseBody).error.param}`
      : String(refusal),
)

const result = {
  text: (await generateText({ ...common, prompt: task.question })).text,
  streamed,
  usage: (await stream.usage).outputTokens,
  tool: [called.toolCalls[0].toolName, called.toolCalls[0].input],
  json: constrained.output,
  error,
}
process.stdout.write(`${JSON.stringify(result)}\n`)
