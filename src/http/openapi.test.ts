import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { routesWithoutStores } from '../app-without-stores.ts'
import { useTestServer } from '../testing.ts'
import { isStrict } from '../wire/lax-parse.ts'
import { openApiDocument } from './openapi.ts'
import { schemaOf } from './openapi-schemas.ts'
import { route } from './route.ts'

interface Operation {
  operationId: string
  summary: string
  parameters: { name: string; in: string }[]
  security: object[]
  requestBody?: { content: Record<string, { schema: unknown }> }
  responses: Record<string, unknown>
}

interface Description {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, unknown> }
}

const server = useTestServer()

/** Endpoints whose requests only pages, `heddle` and people write: what these misspell would be ignored. */
const OWN =
  /^\/v1\/(accounts|usage|preview\/system)\b|\/(redaction|retention|collect|fork)\b|^\/calls\/fields$/

async function description(): Promise<Description> {
  return (await (await server.request('/openapi.json')).json()) as Description
}

async function operations(): Promise<(Operation & { path: string; method: string })[]> {
  return Object.entries((await description()).paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, path, method })),
  )
}

describe('GET /openapi.json', () => {
  it('200 with another id and a summary for every operation', async () => {
    const all = await operations()
    expect(new Set(all.map(({ operationId }) => operationId)).size).toBe(all.length)
    expect(all.filter(({ summary }) => !/\w/.test(summary))).toEqual([])
  })

  it('200 with references that lead somewhere', async () => {
    const document = await description()
    const refs = JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)
    const lost = [...refs].filter(([, path = '']) => {
      const steps = path.split('/')
      return (
        steps.reduce<unknown>((node, step) => (node as Description & never)?.[step], document) === undefined
      )
    })
    expect(lost).toEqual([])
  })

  it('200 with the parameters that each path names', async () => {
    for (const { path, parameters } of await operations()) {
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      const declared = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name)
      expect(declared.sort(), path).toEqual(named.sort())
    }
  })

  it('200 with the keys that an operation needs, or may need', async () => {
    const all = await operations()
    const securityOf = (wanted: string) => all.find(({ path }) => path === wanted)?.security
    expect(securityOf('/v1/usage')).toEqual([{ bearer: [] }, { basic: [] }])
    expect(securityOf('/metrics')).toEqual([{}, { bearer: [] }, { basic: [] }])
    expect(securityOf('/v1/system-check')).toEqual([{}, { bearer: [] }, { basic: [] }])
    expect(securityOf('/health')).toEqual([])
  })

  it('200 with bodies without unknown members for endpoints that no client but the own ones knows', async () => {
    const document = await description()
    const bodies = (await operations())
      .filter(isOwn)
      .flatMap(({ path, requestBody }) =>
        Object.values(requestBody?.content ?? {}).map(({ schema }) => ({ path, schema })),
      )
    expect(bodies.length).toBeGreaterThan(15)
    const open = bodies.filter(({ schema }) => hasOpenObject(schema, document))
    expect(open.map(({ path }) => path)).toEqual([])
  })

  it('200 with only refusals for routes that are not supported', async () => {
    const unsupported = route({
      method: 'POST',
      path: ['/some/part', '/another/name'],
      operationId: 'some_part',
      summary: 'Not supported',
      unsupported: true,
      family: 'trace',
      access: 'any-key',
      reply: 'json',
      response: z.never(),
      handle: () => {
        throw new Error('never asked')
      },
    })
    expect((await openApiDocument([unsupported], '1')).paths).toMatchObject({
      '/some/part': { post: { operationId: 'some_part', responses: { 501: {} } } },
      '/another/name': { post: { operationId: 'some_part_alias', 'x-alias-of': 'some_part' } },
    })
  })
})

describe('endpoints that no client but the own ones knows', () => {
  it('422 for a parameter that they do not know', async () => {
    const asked = (await operations()).filter(
      ({ path, parameters }) =>
        isOwn({ path }) &&
        !BY_PROVIDERS.test(path) &&
        parameters.some((parameter) => parameter.in === 'query'),
    )
    expect(asked.length).toBeGreaterThan(10)
    for (const { path, method } of asked) {
      const body = method === 'put' ? { body: '{}' } : {}
      const refused = await server.request(`${path}?nosuch=1`, { method: method.toUpperCase(), ...body })
      expect([path, refused.status, await refused.text()]).toEqual([
        path,
        422,
        expect.stringContaining('"nosuch"'),
      ])
    }
  })
})

describe('bodies of endpoints that no client but the own ones knows', () => {
  const bodies = routesWithoutStores().flatMap(({ path, body }) =>
    body !== undefined && OWN.test(String(path)) ? [{ path: String(path), body }] : [],
  )

  it('are strict objects, whose numbers and booleans are no texts', () => {
    expect(bodies.length).toBeGreaterThan(15)
    expect(bodies.filter(({ body }) => !isStrict(body))).toEqual([])
  })

  it.each([{ calls: true }, { calls: '30' }])('422 for %o as a retention', async (body) => {
    const path = `/v2/${server.newProject()}/retention`
    const put = (days: object) => server.request(path, { method: 'PUT', body: JSON.stringify(days) })
    expect((await put(body)).status).toBe(422)
    expect((await put({ calls: 30 })).status).toBe(200)
  })
})

/** Sign-in providers add parameters to the addresses that they send browsers to. */
const BY_PROVIDERS = /\/oidc\//

function isOwn({ path }: { path: string }): boolean {
  return OWN.test(path)
}

/** Members that requests of clients have too, and which are as lenient here as there. */
const OF_CLIENTS = ['filter', 'query', 'sort_by', 'config']

/** Whether an object of a schema allows members that it does not describe. */
function hasOpenObject(node: unknown, document: Description): boolean {
  if (typeof node !== 'object' || node === null) return false
  const schema: Record<string, unknown> = { ...node }
  if (typeof schema['$ref'] === 'string')
    return hasOpenObject(document.components.schemas[schema['$ref'].split('/').at(-1) ?? ''], document)
  if (schema['type'] === 'object' && schema['additionalProperties'] === undefined) return true
  return Object.entries(schema).some(
    ([name, child]) => !OF_CLIENTS.includes(name) && hasOpenObject(child, document),
  )
}

describe('schemaOf', () => {
  it('describes a choice of objects with one member each as one object with exactly one of them', () => {
    const choice = z.union([z.strictObject({ text: z.string() }), z.strictObject({ id: z.int() })])
    expect(schemaOf(choice, 'input', {})).toMatchObject({
      type: 'object',
      properties: { text: { type: 'string' }, id: { type: 'integer' } },
      minProperties: 1,
      maxProperties: 1,
      additionalProperties: false,
    })
  })

  it('leaves a choice alone whose objects share a member or have several', () => {
    const shared = z.union([z.strictObject({ id: z.string() }), z.strictObject({ id: z.int() })])
    const several = z.union([z.strictObject({ a: z.int(), b: z.int() }), z.strictObject({ c: z.int() })])
    expect(schemaOf(shared, 'input', {})).toHaveProperty('anyOf')
    expect(schemaOf(several, 'input', {})).toHaveProperty('anyOf')
  })

  it('moves named parts, however deep, to where they are referred to', () => {
    const named = z.object({ at: z.string() }).meta({ id: 'Named' })
    const schemas = {}
    const inner = z.toJSONSchema(z.array(named))
    schemaOf(z.object({ list: z.unknown().meta({ items: inner }) }), 'input', schemas)
    expect(schemas).toMatchObject({ Named: { type: 'object' } })
  })
})
