import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { useTestServer } from '../testing.ts'
import { openApiDocument } from './openapi.ts'
import { schemaOf } from './openapi-schemas.ts'
import { route } from './route.ts'

interface Operation {
  operationId: string
  summary: string
  parameters: { name: string; in: string }[]
  responses: Record<string, unknown>
}

interface Description {
  paths: Record<string, Record<string, Operation>>
}

const server = useTestServer()

async function description(): Promise<Description> {
  return (await (await server.request('/openapi.json')).json()) as Description
}

async function operations(): Promise<(Operation & { path: string })[]> {
  return Object.entries((await description()).paths).flatMap(([path, methods]) =>
    Object.values(methods).map((operation) => ({ ...operation, path })),
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
