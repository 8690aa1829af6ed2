import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { pythonIn } from '../../../scripts/python-environments.ts'
import { clientProgram } from '../client-program.ts'
import { runClient } from '../server.ts'
import { WEATHER_QUESTION, WEATHER_TOOL } from '../weather-tool.ts'
import { chatServer } from './server.ts'

const NODE = join(import.meta.dirname, '../../../node_modules/.bin/node')

const TASK = {
  question: 'What is 2 + 3?',
  tool_question: WEATHER_QUESTION,
  tool: WEATHER_TOOL,
  schema: { type: 'object', properties: { answer: { type: 'integer' } }, required: ['answer'] },
}

function run(interpreter: string, program: string): Promise<Record<string, unknown>> {
  return runClient([interpreter, clientProgram(program)], {
    BASE_URL: chatServer().url,
    API_KEY: chatServer().key,
    TASK: JSON.stringify(TASK),
    // The clients must not look for price lists on the internet.
    LITELLM_LOCAL_MODEL_COST_MAP: 'True',
  })
}

const SEEN = {
  text: 'The answer is 5.',
  streamed: 'The answer is 5.',
  usage: 7,
  tool: ['get_weather', { city: 'Paris' }],
  json: { answer: expect.any(Number) },
  error: '404 model',
}

const ALSO_SEEN = {
  models: ['heddle/loom-tiny'],
  model: 'heddle/loom-tiny',
  completion: expect.any(String),
}

describe('clients people use', () => {
  it('openai for Python', async () => {
    expect(await run(pythonIn('clients'), 'openai_chat.py')).toEqual({ ...SEEN, ...ALSO_SEEN })
  })

  it('openai for JavaScript', async () => {
    expect(await run(NODE, 'openai_chat.mjs')).toEqual({ ...SEEN, ...ALSO_SEEN })
  })

  it('the AI SDK with its OpenAI-compatible provider', async () => {
    expect(await run(NODE, 'ai_sdk_chat.mjs')).toEqual(SEEN)
  })

  it('litellm', async () => {
    expect(await run(pythonIn('clients'), 'litellm_chat.py')).toEqual(SEEN)
  })
})
