import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Schema, Validator } from '@cfworker/json-schema'
import { describe, expect, it } from 'vitest'
import { routesWithoutStores } from '../src/app-without-stores.ts'
import { useTestServer } from '../src/testing.ts'
import { unsupportedRoutes } from '../src/trace/unsupported/routes.ts'
import { description, type Operation, operations, plainValue, resolved } from './openapi-examples.ts'

const ROOT = resolve(import.meta.dirname, '..')

/** How each operation reads its body. */
const bodyKinds = new Map(routesWithoutStores().map((route) => [route.operationId, route.bodyKind ?? 'json']))

const server = useTestServer({})

/** Paths of things that are not there. */
function pathOf(operation: { path: string }): string {
  return operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    name === 'entity' ? 'test' : randomUUID(),
  )
}

async function send(operation: { method: string; path: string }, init: RequestInit = {}) {
  const response = await server.request(pathOf(operation), { method: operation.method, ...init })
  return { status: response.status, text: await response.text() }
}

/** What every error of a wire family has. */
const ERRORS = {
  trace: { reason: expect.stringMatching(/\w/) },
  training: { detail: expect.stringMatching(/\w/) },
  openai: {
    error: { message: expect.stringMatching(/\w/), type: expect.any(String), code: expect.any(Number) },
    detail: expect.stringMatching(/\w/),
  },
}

const INVALID = {
  detail: expect.arrayContaining([
    expect.objectContaining({ type: expect.any(String), loc: expect.any(Array), msg: expect.any(String) }),
  ]),
}

function expectError({ status, text }: { status: number; text: string }, { tags }: Operation): void {
  expect(JSON.parse(text)).toMatchObject(status === 422 ? INVALID : ERRORS[tags[0]])
}

describe('every operation of the API description', () => {
  it('has a test that is named after it', () => {
    const named = new Set(testTitles().flatMap(operationsIn))
    for (const { method, path } of unsupportedRoutes()) named.add(`${method} ${path}`)
    const ids = Map.groupBy(operations, ({ operationId }) => operationId)
    const untested = [...ids.values()].filter(
      (same) => !same.some(({ method, path }) => named.has(`${method} ${path}`)),
    )
    expect(untested.flat().map(({ method, path }) => `${method} ${path}`)).toEqual([])
  })

  it('has tests that are named after operations that there are', () => {
    const known = new Set(operations.map(({ method, path }) => `${method} ${path}`))
    expect(
      testTitles()
        .flatMap(operationsIn)
        .filter((name) => !known.has(name) && !OWN.has(name)),
    ).toEqual([])
  })
})

/** What the server answers beside its operations. */
const OWN = new Set(['GET /docs', 'GET /openapi.json'])

/** Titles of `describe` in all tests. */
function testTitles(): string[] {
  return ['src', 'tests']
    .flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) =>
        join(ROOT, folder, file),
      ),
    )
    .filter((file) => file.endsWith('.test.ts'))
    .flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/\bdescribe\(\s*'([^']+)'/g)])
    .map(([, title = '']) => title)
}

/** `PUT and DELETE /a, /b and GET /c` are five operations: a path goes with the methods before it. */
function operationsIn(title: string): string[] {
  const found: string[] = []
  let methods: string[] = []
  let seesPath = false
  for (const word of title.split(/[\s,]+/)) {
    if (/^(GET|POST|PUT|DELETE)$/.test(word)) {
      methods = seesPath ? [word] : [...methods, word]
      seesPath = false
    } else if (word.startsWith('/')) {
      seesPath = true
      found.push(...methods.map((method) => `${method} ${word}`))
    }
  }
  return found
}

describe.each(operations)('$method $path', (operation) => {
  const { operationId, method, requestBody, security } = operation
  const [body] = Object.values(requestBody?.content ?? {})
  const takesJson = body !== undefined && bodyKinds.get(operationId) === 'json'

  const needsKey = security.length > 0 && security.every((scheme) => Object.keys(scheme).length > 0)
  if (needsKey) {
    it('401 without a key, before anything else is looked at', async () => {
      const reply = await send(operation, {
        headers: { authorization: '' },
        ...(body !== undefined && { body: '{' }),
      })
      expect(reply.status).toBe(401)
      expectError(reply, operation)
    })
  }

  if (takesJson) {
    it('422 for a body that is no JSON, or none, or of another shape', async () => {
      const wrong = ['{', '', '[]', '"text"', '1', 'null']
      for (const text of method === 'GET' ? [] : wrong) {
        const reply = await send(operation, { body: text })
        expect(reply.status, text).toBe(422)
        expectError(reply, operation)
      }
    })
  }

  if (takesJson) {
    it('422 with the place for each field of another type', async () => {
      for (const [field, schema] of fieldsOf(body?.schema)) {
        const value = WRONG_VALUES.find((candidate) => !isValid(schema, candidate))
        if (value === undefined) continue
        const reply = await send(operation, { body: JSON.stringify({ [field]: value }) })
        expect(reply.status, `${field} ${JSON.stringify(value)}`).toBe(422)
        expect(reply.text).toContain(`"${field}"`)
        expectError(reply, operation)
      }
    })
  }

  it('no internal error for a body that is no more than valid, and for things that are not there', async () => {
    const plain =
      body === undefined ? {} : { body: takesJson ? JSON.stringify(plainValue(body.schema)) : 'x' }
    const reply = await send(operation, plain)
    // What is not done and what this machine lacks is said so.
    if (reply.status >= 500) expect([501, 503]).toContain(reply.status)
    if (reply.status >= 400 && !REPORTS.has(operationId)) expectError(reply, operation)
    expect((await server.request('/version')).status).toBe(200)
  })
})

/** Answered with 503 and what is wrong when something is, such as an engine that is not installed. */
const REPORTS = new Set(['health', 'system_check'])

const WRONG_VALUES = [{ unexpected: [{}] }, 'text', 1.5, true, [[[]]]]

function isValid(schema: Schema, value: unknown): boolean {
  return new Validator({ ...schema, components: description.components } as Schema, '2020-12').validate(value)
    .valid
}

/** The fields of an object, or of all objects that are allowed. */
function fieldsOf(schema: Schema | undefined): [string, Schema][] {
  if (schema === undefined) return []
  const { properties, anyOf, oneOf } = resolved(schema)
  const alternatives = [...(anyOf ?? []), ...(oneOf ?? [])] as Schema[]
  return [...Object.entries(properties ?? {}), ...alternatives.flatMap(fieldsOf)] as [string, Schema][]
}
