import { describe, expect, it } from 'vitest'
import { openFakeCompute } from '../stores/compute/fake-compute.ts'
import { useTestServer } from '../testing.ts'

const server = useTestServer({ compute: openFakeCompute })

/** Numbers with a fraction of zero, beyond 53 bits and in other spellings; members that look like integers. */
const VALUE = '{"b": 1.0, "10": 1e3, "2": 12345678901234567890, "a": [-0.0, {"é": "\\u00e9", "1": null}]}'
const CALL = `{"type": "function", "function": {"name": "f", "arguments": "{\\"x\\": 1.0}"}, "7": 2.50, "id": "c"}`

function post(members: string): Promise<Response> {
  const body = `{"messages": [{"role": "user", "content": "hi"}], ${members}}`
  return server.request('/v1/chat/completions', { method: 'POST', body })
}

/** The fake engine answers with the text of the request that it got. */
async function engineGot(members: string): Promise<string> {
  const response = await post(members)
  expect(response.status, await response.clone().text()).toBe(200)
  const reply = (await response.json()) as { choices: { message: { content: string } }[] }
  return reply.choices[0]?.message.content ?? ''
}

describe('POST /v1/chat/completions', () => {
  it.each([
    ['tools', `[{"function": {"parameters": ${VALUE}, "name": "f"}, "type": "function", "1": 1.0}]`],
    ['response_format', `{"json_schema": {"schema": ${VALUE}, "name": "f"}, "type": "json_schema"}`],
    ['chat_template_kwargs', VALUE],
    ['documents', '[{"b": "1.0", "1": "x"}]'],
    ['kv_transfer_params', VALUE],
  ])('200: the engine gets %s as the client wrote it', async (name, value) => {
    const text = value.slice(value.startsWith('[') ? 1 : 0, value.startsWith('[') ? -1 : undefined)
    expect(await engineGot(`"${name}": ${value}`)).toContain(text)
  })

  it('200: and schemas of constraints, and calls and tools inside messages', async () => {
    expect(await engineGot(`"structured_outputs": {"json": ${VALUE}}`)).toContain(`{"json":${VALUE}}`)
    expect(await engineGot(`"guided_json": ${VALUE}`)).toContain(`"structured_outputs":{"json":${VALUE}}`)
    const messages = `"messages": [{"role": "assistant", "tool_calls": [${CALL}]}, {"role": "developer", "content": "hi", "tools": [${VALUE}]}]`
    const got = await engineGot(messages)
    expect(got).toContain(`"tool_calls":[${CALL}]`)
    expect(got).toContain(`"tools":[${VALUE}]`)
  })

  it('200: parts of documents that are no texts become the texts that they were', async () => {
    expect(await engineGot('"documents": [{"a": 1.0, "b": {"x": 1.50}}]')).toContain(
      '{"a":"1.0","b":"{\\"x\\":1.50}"}',
    )
  })

  it('422 names the place inside a member that is kept as text', async () => {
    const response = await post('"tools": [{"type": "function", "function": {"name": 5}}]')
    expect(response.status).toBe(422)
    expect(await response.json()).toMatchObject({
      detail: [{ loc: ['body', 'tools', '0', 'function', 'name'], type: 'string_type' }],
    })
    for (const members of [
      '"tools": [5]',
      '"response_format": {"type": "xml"}',
      '"chat_template_kwargs": "x"',
    ])
      expect((await post(members)).status, members).toBe(422)
  })
})

describe('POST /v1/tokenize', () => {
  it('422 for messages without a role, which are checked though they stay text', async () => {
    const response = await server.post('/v1/tokenize', { messages: [{ content: 'hi' }] })
    expect(response.status).toBe(422)
    expect(await response.json()).toMatchObject({ detail: [{ loc: ['body', 'messages', '0', 'role'] }] })
  })
})
