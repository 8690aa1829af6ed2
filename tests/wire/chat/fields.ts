import { describe, expect, it } from 'vitest'
import { conversationCases } from './conversation-cases.ts'
import type { Ask, Reply } from './field-case.ts'
import { guidedCases } from './guided-cases.ts'
import { replyCases } from './reply-cases.ts'
import { samplingCases } from './sampling-cases.ts'
import { chatServer } from './server.ts'

const CASES = { ...conversationCases, ...samplingCases, ...guidedCases, ...replyCases }

function send(fields: object, headers: Record<string, string> = {}): Promise<Response> {
  const defaults = { messages: [{ role: 'user', content: 'What is 2 + 3?' }], temperature: 0, max_tokens: 24 }
  return fetch(`${chatServer().url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${chatServer().key}`, ...headers },
    body: JSON.stringify({ ...defaults, ...fields }),
  })
}

const ask: Ask = async (fields, headers) => {
  const response = await send(fields, headers)
  const text = await response.text()
  expect(response.status, `${JSON.stringify(fields)}: ${text}`).toBe(200)
  return JSON.parse(text) as Reply
}

interface Description {
  components: { schemas: { ChatCompletionRequest: { properties: object } } }
}

interface Refused {
  error: { message: string; code: number }
  detail: string | [{ loc: string[] }]
}

describe('POST /v1/chat/completions, field by field', () => {
  it('every field that the API describes has its case', async () => {
    const document = (await (await fetch(`${chatServer().url}/openapi.json`)).json()) as Description
    const { properties } = document.components.schemas.ChatCompletionRequest
    expect(Object.keys(CASES).sort()).toEqual(Object.keys(properties).sort())
  })

  it.each(Object.entries(CASES))('200 with %s, and its effect', (_field, { effect }) => effect(ask))

  const refusals = Object.entries(CASES).flatMap(([field, { refused }]) =>
    refused.map(([value, status, words, beside = {}]) => ({ field, value, status, words, beside })),
  )
  it.each(refusals)('$status for $field: $value', async ({ field, value, status, words, beside }) => {
    const response = await send({ ...beside, [field]: value })
    const body = (await response.json()) as Refused
    expect(response.status, JSON.stringify(body)).toBe(status)
    expect(body.error).toMatchObject({ message: expect.stringMatching(words), code: status })
    if (typeof body.detail === 'string') expect([status, body.detail]).toEqual([400, body.error.message])
    else expect([status, ...body.detail[0].loc.slice(0, 2)]).toEqual([422, 'body', field])
  })
})
