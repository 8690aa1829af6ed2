import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import protobuf from 'protobufjs'
import { expect } from 'vitest'
import type { TestServer } from '../../testing.ts'

type Json = Record<string, unknown>

/** A span as JSON has it; attributes are given as plain values. */
export interface TestSpan {
  traceId: string
  spanId: string
  name: string
  attributes?: Json
  [field: string]: unknown
}

export const START = 1_767_225_600_123_456_789n

/** A span in a new trace that took a second and a half. */
export function spanOf(fields: Partial<TestSpan> = {}): TestSpan {
  return {
    traceId: randomBytes(16).toString('hex'),
    spanId: randomBytes(8).toString('hex'),
    name: 'op',
    kind: 1,
    startTimeUnixNano: String(START),
    endTimeUnixNano: String(START + 1_500_000_000n),
    ...fields,
  }
}

/** An export request with all spans in one scope. */
export function requestOf(spans: readonly TestSpan[], resource: Json = { 'service.name': 'test' }): Json {
  return {
    resourceSpans: [
      {
        resource: { attributes: keyValues(resource) },
        scopeSpans: [{ scope: { name: 'tests' }, spans: spans.map(encoded) }],
      },
    ],
  }
}

/** An event of a span. */
export function eventOf(name: string, attributes: Json): object {
  return { name, attributes: keyValues(attributes) }
}

/** The attribute list of OTLP. */
export function keyValues(attributes: Json): object[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: anyValue(value) }))
}

function encoded({ attributes, ...span }: TestSpan): Json {
  return { ...span, attributes: keyValues(attributes ?? {}) }
}

function anyValue(value: unknown): object | undefined {
  if (value === null) return undefined
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'bigint') return { intValue: String(value) }
  if (typeof value === 'number')
    return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
  if (value instanceof Uint8Array) return { bytesValue: Buffer.from(value).toString('base64') }
  if (Array.isArray(value)) return { arrayValue: { values: value.map(anyValue) } }
  return { kvlistValue: { values: keyValues({ ...(value as object) }) } }
}

const PROTO = readFileSync(join(import.meta.dirname, 'otlp.proto'), 'utf8')
const { root } = protobuf.parse(PROTO)

export function protobufOf(request: Json): Uint8Array {
  const type = root.lookupType('ExportTraceServiceRequest')
  return type.encode(type.fromObject(withByteIds(request) as Json)).finish()
}

export function replyIn(bytes: ArrayBuffer): Json {
  const type = root.lookupType('ExportTraceServiceResponse')
  return type.toObject(type.decode(new Uint8Array(bytes)), { longs: String })
}

/** Only JSON writes ids as hex. */
function withByteIds(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withByteIds)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, member]) =>
    /^(traceId|spanId|parentSpanId)$/.test(key)
      ? [key, Buffer.from(String(member), 'hex')]
      : [key, withByteIds(member)],
  )
  return Object.fromEntries(entries)
}

/** Exports spans as JSON to a project; all must be accepted. */
export async function exportSpans(server: TestServer, project: string, ...spans: TestSpan[]): Promise<void> {
  const reply = await server.request('/otel/v1/traces', {
    method: 'POST',
    headers: { 'content-type': 'application/json', project_id: project },
    body: JSON.stringify(requestOf(spans)),
  })
  expect({ status: reply.status, body: await reply.json() }).toEqual({ status: 200, body: {} })
}

/** The one call that a span becomes. */
export async function callOf(
  server: TestServer,
  fields: Partial<TestSpan>,
): Promise<Json & { attributes: Json; summary: Json }> {
  const project = server.newProject()
  await exportSpans(server, project, spanOf(fields))
  const [call, ...others] = await callsOf(server, project)
  expect(others).toEqual([])
  return call as Json & { attributes: Json; summary: Json }
}

/** The calls of a project as a client lists them, oldest first. */
export async function callsOf(server: TestServer, project_id: string, req: Json = {}): Promise<Json[]> {
  const reply = await server.post('/calls/stream_query', { project_id, ...req })
  const text = await reply.text()
  expect(reply.status, text).toBe(200)
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Json)
}
