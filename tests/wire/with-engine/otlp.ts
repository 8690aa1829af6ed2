import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { pythonIn } from '../../../scripts/python-environments.ts'
import { clientProgram } from '../client-program.ts'
import { runClient } from '../server.ts'
import { WEATHER_QUESTION, WEATHER_TOOL } from '../weather-tool.ts'
import { engineServer } from './server.ts'

const NODE = join(import.meta.dirname, '../../../node_modules/.bin/node')

async function callsOf(project_id: string): Promise<unknown[]> {
  const reply = await fetch(`${engineServer().url}/calls/stream_query`, {
    method: 'POST',
    headers: { authorization: `Bearer ${engineServer().key}` },
    body: JSON.stringify({ project_id, sort_by: [{ field: 'op_name', direction: 'asc' }] }),
  })
  const lines = (await reply.text()).split('\n').filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line) as unknown)
}

const NODE_CLIENT = [NODE, clientProgram('otlp_spans.mjs')]
const PYTHON_CLIENT = () => [pythonIn('clients'), clientProgram('otlp_spans.py')]

describe('OpenTelemetry exporters with only an endpoint and headers', () => {
  it.each([
    ['JavaScript, JSON', () => [...NODE_CLIENT, 'json'], {}],
    ['JavaScript, JSON, gzip', () => [...NODE_CLIENT, 'json'], { OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip' }],
    ['JavaScript, protobuf', () => [...NODE_CLIENT, 'protobuf'], {}],
    [
      'JavaScript, protobuf, gzip',
      () => [...NODE_CLIENT, 'protobuf'],
      { OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip' },
    ],
    ['Python', PYTHON_CLIENT, {}],
    ['Python, gzip', PYTHON_CLIENT, { OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip' }],
    ['Python, below /otel', PYTHON_CLIENT, { path: '/otel' }],
  ])('trace as calls: %s', async (name, command, { path = '', ...env }: Record<string, string>) => {
    const project = `local/${name.replaceAll(/\W+/g, '-')}`
    const seen = await runClient(command(), {
      OTEL_EXPORTER_OTLP_ENDPOINT: `${engineServer().url}${path}`,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${engineServer().key},project_id=${encodeURIComponent(project)}`,
      ...env,
    })
    const exports = (await engineServer().takeRequests()).filter((request) =>
      request.path.endsWith('/v1/traces'),
    )
    expect(exports).toEqual([{ method: 'POST', path: `${path}/v1/traces`, status: 200 }])
    const { trace_id, root_id, chat_id } = seen
    expect(await callsOf(project)).toMatchObject([
      {
        id: root_id,
        trace_id,
        parent_id: null,
        thread_id: 'conversation-1',
        turn_id: root_id,
        summary: { weave: { status: 'success', trace_name: 'agent_run' } },
      },
      {
        id: chat_id,
        trace_id,
        parent_id: root_id,
        inputs: { 'gen_ai.input.messages': [{ role: 'user', content: 'naïve?' }] },
        attributes: {
          model: 'tiny',
          finish_reasons: ['stop'],
          model_parameters: { model: 'tiny', temperature: 0.5 },
          otel_span: { kind: 'INTERNAL', events: [{ name: 'token', attributes: { index: 1 } }] },
        },
        summary: { usage: { tiny: { input_tokens: 3, output_tokens: 4, total_tokens: 7 } } },
      },
      {
        trace_id,
        parent_id: root_id,
        exception: 'no weather',
        summary: { weave: { status: 'error', trace_name: 'tool' } },
      },
    ])
  })
})

describe('the OpenTelemetry exporter for Python with a project in other letters', () => {
  it.each([
    ['in Latin-1', 'local/Prüfung 5%', encodeURIComponent],
    [
      'percent-encoded twice',
      'local/проверка 5%',
      (text: string) => encodeURIComponent(encodeURIComponent(text)),
    ],
  ])('traces into that project: %s', async (_how, project, inVariable) => {
    const { root_id } = await runClient(PYTHON_CLIENT(), {
      OTEL_EXPORTER_OTLP_ENDPOINT: engineServer().url,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${engineServer().key},project_id=${inVariable(project)}`,
    })
    await engineServer().takeRequests()
    expect(await callsOf(project)).toContainEqual(expect.objectContaining({ id: root_id }))
  })
})

describe("OpenInference's instrumentation of the OpenAI client", () => {
  it('traces requests and answers as calls, streamed or not, with usage, tools and errors', async () => {
    const task = { question: 'What is 2 + 3?', tool_question: WEATHER_QUESTION, tool: WEATHER_TOOL }
    await engineServer().takeRequests()
    const { trace_id, root_id, ...seen } = await runClient(
      [pythonIn('clients'), clientProgram('openinference_openai.py')],
      {
        BASE_URL: engineServer().url,
        API_KEY: engineServer().key,
        TASK: JSON.stringify(task),
        OTEL_EXPORTER_OTLP_ENDPOINT: engineServer().url,
        OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${engineServer().key},project_id=local%2Fopeninference`,
      },
    )
    expect(seen).toMatchObject({ text: 'The answer is 5.', streamed: 'The answer is 5.' })
    const statuses = (await engineServer().takeRequests()).map(({ path, status }) => `${path} ${status}`)
    expect(new Set(statuses)).toEqual(
      // The client requests an unknown model.
      new Set(['/v1/chat/completions 200', '/v1/chat/completions 404', '/v1/traces 200']),
    )
    const asked = [{ role: 'user', content: task.question }]
    const usage = {
      'heddle/loom-tiny': { prompt_tokens: 22, completion_tokens: 7, total_tokens: 29 },
    }
    const answered = {
      trace_id,
      parent_id: root_id,
      inputs: {
        'input.value': { messages: asked, model: 'heddle/loom-tiny', max_tokens: 60, temperature: 0 },
      },
      output: {
        'output.value': {
          choices: [{ finish_reason: 'stop', message: { role: 'assistant', content: 'The answer is 5.' } }],
        },
      },
      attributes: { kind: 'LLM', system: 'openai', model: 'heddle/loom-tiny' },
      summary: { usage, weave: { status: 'success', trace_name: 'chatcompletion' } },
    }
    const calls = (await callsOf('local/openinference')) as { started_at: string }[]
    expect(calls.sort((a, b) => a.started_at.localeCompare(b.started_at))).toMatchObject([
      { id: root_id, trace_id, parent_id: null },
      answered,
      { ...answered, inputs: { 'input.value': { stream: true } } },
      {
        inputs: { 'input.value': { tools: [WEATHER_TOOL] } },
        output: {
          'output.value': {
            choices: [
              {
                message: {
                  tool_calls: [{ function: { name: 'get_weather', arguments: '{"city": "Paris"}' } }],
                },
              },
            ],
          },
        },
        summary: { usage: { 'heddle/loom-tiny': { total_tokens: expect.any(Number) } } },
      },
      {
        parent_id: root_id,
        exception: expect.stringContaining('model local/clients/nobody not found'),
        summary: { weave: { status: 'error' } },
      },
    ])
  })
})
