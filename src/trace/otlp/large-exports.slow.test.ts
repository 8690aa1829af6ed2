import { describe, expect, it } from 'vitest'
import { type Fields, useTestServer } from '../../testing.ts'
import { callsOf, protobufOf, replyIn, requestOf, spanOf, type TestSpan } from './test-spans.ts'

const server = useTestServer()

const PROTOBUF = 'application/x-protobuf'

function send(body: Uint8Array | string, headers: Record<string, string>): Promise<Response> {
  return server.request('/otel/v1/traces', { method: 'POST', headers, body: Buffer.from(body) })
}

/** What the server answers to spans in one request. */
async function reply(spans: readonly TestSpan[], project: string): Promise<unknown> {
  const response = await send(protobufOf(requestOf(spans)), { 'content-type': PROTOBUF, project_id: project })
  expect(response.status).toBe(200)
  return replyIn(await response.arrayBuffer())
}

/** The calls of a project, without its name. */
async function namelessCallsOf(project: string): Promise<Fields[]> {
  const texts = (await callsOf(server, project)).map((call) => JSON.stringify(call).replaceAll(project, ''))
  return texts.sort().map((text) => JSON.parse(text) as Fields)
}

/** Attributes of some kilobytes, with values of all kinds. */
function attributesOf(number: number): Fields {
  return {
    'gen_ai.request.model': 'm',
    'input.value': JSON.stringify({ question: `${number} `.repeat(500) }),
    'output.value': 'é\ud83d\ude00 '.repeat(100),
    'gen_ai.usage.input_tokens': number,
    exact: 2n ** 60n + BigInt(number),
    list: [1, 'two', 2.5],
  }
}

describe('POST /otel/v1/traces with more than is converted on the thread that serves', () => {
  it('200 with the same calls as span by span, and invalid spans rejected alone', async () => {
    const [together, apart] = [server.newProject(), server.newProject()]
    const spans = Array.from({ length: 60 }, (_, number) => spanOf({ attributes: attributesOf(number) }))
    const invalid = spanOf({ name: 'invalid', traceId: '0'.repeat(32) })
    expect(await reply(spans.toSpliced(30, 0, invalid), together)).toMatchObject({
      partialSuccess: { rejectedSpans: '1', errorMessage: expect.stringContaining('invalid') },
    })
    for (const span of spans) expect(await reply([span], apart)).toEqual({})
    const calls = await namelessCallsOf(together)
    expect(calls).toHaveLength(60)
    expect(calls).toEqual(await namelessCallsOf(apart))
  })

  it('200 for several lists of spans', async () => {
    const project = server.newProject()
    expect(
      await reply(
        Array.from({ length: 2_500 }, () => spanOf()),
        project,
      ),
    ).toEqual({})
    expect(await callsOf(server, project)).toHaveLength(2_500)
  })

  it('400 for bytes that are no export, and 413 for too many spans', async () => {
    const project_id = server.newProject()
    const noise = Buffer.alloc(100_000, 0xff)
    const refused = await send(noise, { 'content-type': PROTOBUF, project_id })
    expect({
      status: refused.status,
      body: Buffer.from(await refused.arrayBuffer()).toString(),
    }).toMatchObject({
      status: 400,
      body: expect.stringContaining('The body is not an ExportTraceServiceRequest'),
    })
    const many = `{"resourceSpans":[{"scopeSpans":[{"spans":[${'{},'.repeat(50_000)}{}]}]}]}`
    expect((await send(many, { 'content-type': 'application/json', project_id })).status).toBe(413)
  })
})
