import { z } from 'zod'
import type { Route } from './route.ts'
import { ValidationErrorBody } from './validation-error.ts'

type Json = Record<string, unknown>

/** Describes every route as OpenAPI 3.1, from the same schemas that validate requests. */
export function openApiDocument(routes: readonly Route[], version: string): Json {
  const schemas: Json = {}
  const paths: Record<string, Json> = {}
  for (const declaration of routes) {
    const literals = typeof declaration.path === 'string' ? [declaration.path] : declaration.path
    for (const path of literals) {
      const operation = operationOf(declaration, schemas)
      const plain = path.replace('+}', '}')
      paths[plain] = { ...paths[plain], [declaration.method.toLowerCase()]: operation }
    }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Heddle', version, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    paths,
    components: {
      schemas,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        basic: { type: 'http', scheme: 'basic', description: 'user "api", the key as password' },
      },
    },
  }
}

const MEDIA_TYPES = { json: 'application/json', jsonl: 'application/jsonl', raw: '*/*' } as const

function operationOf(declaration: Route, schemas: Json): Json {
  const body = declaration.streamedBody ?? declaration.body
  const reply = { schema: schemaOf(declaration.response, 'output', schemas) }
  return {
    operationId: declaration.operationId,
    tags: [declaration.family],
    ...(declaration.auth === 'open' ? { security: [] } : { security: [{ bearer: [] }, { basic: [] }] }),
    parameters: [
      ...parametersOf(declaration.pathParams, 'path', schemas),
      ...parametersOf(declaration.query, 'query', schemas),
    ],
    ...(body && { requestBody: requestBodyOf(declaration, body, schemas) }),
    responses: {
      200: { description: 'Success', content: { [MEDIA_TYPES[declaration.reply]]: reply } },
      422: {
        description: 'The request does not have the declared shape',
        content: { 'application/json': { schema: schemaOf(ValidationErrorBody, 'output', schemas) } },
      },
    },
  }
}

function requestBodyOf(declaration: Route, body: z.ZodType, schemas: Json): Json {
  const mediaType = declaration.bodyKind === 'multipart' ? 'multipart/form-data' : 'application/json'
  return { required: true, content: { [mediaType]: { schema: schemaOf(body, 'input', schemas) } } }
}

function parametersOf(schema: z.ZodType | undefined, where: 'path' | 'query', schemas: Json): Json[] {
  if (schema === undefined) return []
  const object = schemaOf(schema, 'input', schemas) as { properties?: Json; required?: string[] }
  return Object.entries(object.properties ?? {}).map(([name, property]) => ({
    name,
    in: where,
    required: where === 'path' || (object.required ?? []).includes(name),
    schema: property,
  }))
}

/** JSON Schema of one zod schema; named parts move to `schemas` and are referred to. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output', schemas: Json): Json {
  const { $schema: _, $defs, ...document } = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Json
  for (const [name, definition] of Object.entries(($defs ?? {}) as Json))
    schemas[name] = relocated(definition)
  return relocated(document) as Json
}

function relocated(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(relocated)
  if (typeof node !== 'object' || node === null) return node
  const entries = Object.entries(node).map(([key, value]) =>
    key === '$ref' && typeof value === 'string'
      ? [key, value.replace('#/$defs/', '#/components/schemas/')]
      : [key, relocated(value)],
  )
  return Object.fromEntries(entries)
}
