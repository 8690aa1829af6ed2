import { z } from 'zod'

/** A JSON object of the API description. */
export type Json = Record<string, unknown>

/**
 * JSON Schema of one zod schema, in a form that generators of clients read. Named parts move to `schemas` and are
 * referred to.
 */
export function schemaOf(schema: z.ZodType, io: 'input' | 'output', schemas: Json): Json {
  const { $schema: _, ...document } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ jsonSchema }) => boundTuple(jsonSchema),
  }) as Json
  return relocated(document, schemas) as Json
}

/** A tuple by its length: generators do not read `items: false`, which means the same. */
function boundTuple(schema: z.core.JSONSchema.BaseSchema): void {
  if (schema.prefixItems === undefined || schema.items !== false) return
  delete schema.items
  schema.minItems = schema.prefixItems.length
  schema.maxItems = schema.prefixItems.length
}

function relocated(node: unknown, schemas: Json): unknown {
  if (Array.isArray(node)) return node.map((child) => relocated(child, schemas))
  if (typeof node !== 'object' || node === null) return node
  const { $defs, ...rest } = node as Json
  for (const [name, definition] of Object.entries(($defs ?? {}) as Json))
    schemas[name] = relocated(definition, schemas)
  const entries = Object.entries(rest).map(([key, value]) =>
    key === '$ref' && typeof value === 'string'
      ? [key, value.replace('#/$defs/', '#/components/schemas/')]
      : [key, relocated(value, schemas)],
  )
  return withOneMember(Object.fromEntries(entries), schemas)
}

/**
 * Rewrites a union of objects with one member each as one object with exactly one of these members. Both accept the
 * same values; generators make one class of the second, also where it is recursive.
 */
function withOneMember(schema: Json, schemas: Json): Json {
  const { anyOf, ...rest } = schema
  if (!Array.isArray(anyOf)) return schema
  const options = anyOf.map((option: Json) => objectOf(option, schemas))
  const names = options.flatMap((option) => Object.keys(option?.properties ?? {}))
  const distinct = new Set(names).size === names.length
  if (!distinct || !options.every((option) => option !== undefined && hasOneMember(option))) return schema
  return {
    ...rest,
    type: 'object',
    properties: Object.assign({}, ...options.map((option) => option?.properties)),
    minProperties: 1,
    maxProperties: 1,
    additionalProperties: false,
  }
}

interface ObjectSchema {
  properties: Json
  required?: string[]
  minProperties?: number
  maxProperties?: number
}

function objectOf(schema: Json, schemas: Json): ObjectSchema | undefined {
  const name = typeof schema['$ref'] === 'string' ? schema['$ref'].split('/').at(-1) : undefined
  const target = name === undefined ? schema : (schemas[name] as Json | undefined)
  const isClosed = target?.['type'] === 'object' && target['additionalProperties'] === false
  return isClosed ? (target as unknown as ObjectSchema) : undefined
}

function hasOneMember({ properties, required, minProperties, maxProperties }: ObjectSchema): boolean {
  const names = Object.keys(properties)
  return (names.length === 1 && required?.[0] === names[0]) || (minProperties === 1 && maxProperties === 1)
}
