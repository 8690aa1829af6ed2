import type { z } from 'zod'
import { forEachYielding } from '../yielding.ts'
import { needsKey } from './access.ts'
import { ErrorBodies, ValidationErrorBodies } from './error-bodies.ts'
import { type Json, schemaOf } from './openapi-schemas.ts'
import { refusalsOf } from './refusals.ts'
import type { Route } from './route.ts'
import { REFUSALS } from './statuses.ts'

/**
 * Describes every route as OpenAPI 3.1, from the same schemas that validate requests. All together take a third of a
 * second, in turns with other requests.
 */
export async function openApiDocument(routes: readonly Route[], version: string): Promise<Json> {
  const schemas: Json = {}
  const paths: Record<string, Json> = {}
  await forEachYielding(routes, (declaration) => {
    const operation = operationOf(declaration, schemas)
    for (const [index, path] of literalsOf(declaration).entries()) {
      const plain = path.replace('+}', '}')
      const described = index === 0 ? operation : aliasOf(operation, index, declaration)
      paths[plain] = { ...paths[plain], [declaration.method.toLowerCase()]: described }
    }
  })
  return {
    openapi: '3.1.0',
    info: {
      title: 'Heddle',
      version,
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [ROOT_SERVER],
    tags: TAGS,
    paths,
    components: {
      schemas,
      responses: refusalResponses(schemas),
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        basic: { type: 'http', scheme: 'basic', description: 'user "api", the key as password' },
      },
    },
  }
}

const DESCRIPTION =
  'Tracing and evaluation (the Weave trace API), training and inference. A refused request changes nothing; ' +
  'one that carries Retry-After may be sent again.'

const ROOT_SERVER = { url: '/' }

/** Wire: the Python client finds the trace API below `/traces` of its base URL. */
const TRACE_SERVERS = [
  ROOT_SERVER,
  { url: '/traces', description: 'The same, where W&B clients look for it' },
]

const TAGS = [
  { name: 'trace', description: 'Calls, objects, datasets, feedback, evaluations' },
  { name: 'training', description: 'Models, training jobs, checkpoints, runs, artifacts' },
  { name: 'openai', description: 'Inference, as OpenAI clients ask for it' },
]

const MEDIA_TYPES = { json: ['application/json'], jsonl: ['application/jsonl'] } as const
const BYTES = ['application/octet-stream']
const BINARY_TYPES = new Set(['application/octet-stream', 'application/x-protobuf'])

function literalsOf({ path }: Route): readonly string[] {
  return typeof path === 'string' ? [path] : path
}

/** The same operation at another path. Ids of operations are unique: generators make a function of each. */
function aliasOf(operation: Json, index: number, declaration: Route): Json {
  return {
    ...operation,
    operationId: `${declaration.operationId}_alias${index === 1 ? '' : index}`,
    'x-alias-of': declaration.operationId,
    summary: `Same as ${declaration.method} ${literalsOf(declaration)[0]}`,
  }
}

function operationOf(declaration: Route, schemas: Json): Json {
  const body = declaration.streamedBody ?? declaration.body
  return {
    operationId: declaration.operationId,
    summary: declaration.summary,
    tags: [declaration.family],
    ...(declaration.family === 'trace' && { servers: TRACE_SERVERS }),
    security: securityOf(declaration.access),
    parameters: [
      ...parametersOf(declaration.pathParams, 'path', schemas),
      ...parametersOf(declaration.query, 'query', schemas),
    ],
    ...(body && { requestBody: requestBodyOf(declaration, body, schemas) }),
    responses: responsesOf(declaration, schemas),
  }
}

function securityOf(access: Route['access']): Json[] {
  const keys = [{ bearer: [] }, { basic: [] }]
  if (needsKey(access)) return keys
  // Whether machines need a key differs from server to server.
  return access === 'machine' ? [{}, ...keys] : []
}

/** Node refuses a request whose address and headers have more than 16 KiB, before any route; without a body. */
const ADDRESS_TOO_LONG = { description: 'The address and the headers are too long' }

function responsesOf(declaration: Route, schemas: Json): Json {
  const refusals: [number, Json][] = refusalsOf(declaration).map((status) => [
    status,
    { $ref: `#/components/responses/${refusalName(declaration.family, status)}` },
  ])
  const { pathParams, query } = declaration
  if (pathParams !== undefined || query !== undefined) refusals.push([431, ADDRESS_TOO_LONG])
  if (declaration.unsupported) return Object.fromEntries(refusals)
  const schema = schemaOf(declaration.response, 'output', schemas)
  const types =
    declaration.reply === 'raw' ? (declaration.replyTypes ?? BYTES) : MEDIA_TYPES[declaration.reply]
  const content = Object.fromEntries(types.map((type) => [type, { schema: contentSchema(type, schema) }]))
  const reports = (declaration.reportedAt ?? []).map((status) => [
    status,
    { description: `${REFUSALS[status]}; the body says more`, content },
  ])
  return Object.fromEntries([[200, { description: 'Success', content }], ...refusals, ...reports])
}

/** What a media type other than JSON holds is bytes or lines; the schema describes JSON, or an event of a stream. */
function contentSchema(type: string, schema: Json): Json {
  return BINARY_TYPES.has(type) ? { type: 'string', format: 'binary' } : schema
}

/** One response for each status and family: the families differ in how an error body is written. */
function refusalResponses(schemas: Json): Json {
  const families = Object.keys(ErrorBodies) as Route['family'][]
  return Object.fromEntries(
    families.flatMap((family) =>
      Object.entries(REFUSALS).map(([status, description]) => {
        const body = status === '422' ? ValidationErrorBodies[family] : ErrorBodies[family]
        const content = { 'application/json': { schema: schemaOf(body, 'output', schemas) } }
        return [refusalName(family, status), { description, content }]
      }),
    ),
  )
}

function refusalName(family: Route['family'], status: string | number): string {
  return `${family}_${status}`
}

function requestBodyOf(declaration: Route, body: z.ZodType, schemas: Json): Json {
  const types =
    declaration.bodyKind === 'multipart'
      ? ['multipart/form-data']
      : (declaration.bodyTypes ?? ['application/json'])
  const schema = schemaOf(body, 'input', schemas)
  return {
    required: true,
    content: Object.fromEntries(types.map((type) => [type, { schema: contentSchema(type, schema) }])),
  }
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
