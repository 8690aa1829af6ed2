/**
 * Makes requests from the API description: the plainest values that the schemas allow, with names of things filled in.
 */
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Schema } from '@cfworker/json-schema'
import type { Route } from '../src/http/route.ts'

const ROOT = resolve(import.meta.dirname, '..')

export interface Operation {
  operationId: string
  'x-alias-of'?: string
  tags: [Route['family']]
  security: object[]
  parameters: { name: string; in: string; required?: boolean }[]
  requestBody?: { content: Record<string, { schema: Schema }> }
}

export const description = JSON.parse(readFileSync(join(ROOT, 'contract/openapi.json'), 'utf8')) as {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

/** Every operation, once for each of its paths. */
export const operations = Object.entries(description.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    ...operation,
    operationId: operation['x-alias-of'] ?? operation.operationId,
    method: method.toUpperCase(),
    path,
  })),
)

/** The schema itself, wherever it is written. */
export function resolved(schema: Schema): Schema {
  const name = schema.$ref?.replace('#/components/schemas/', '')
  return name === undefined ? schema : resolved(description.components.schemas[name] ?? {})
}

/** Values by the name of the property or parameter that has them; each is also right for lists of such values. */
export type Named = Readonly<Record<string, unknown>>

/** The plainest value that a schema allows, with the named values wherever there is a property of that name. */
export function plainValue(unresolved: Schema, named: Named = {}): unknown {
  const schema = resolved(unresolved)
  const [alternative] = (schema.anyOf ?? schema.oneOf ?? []) as Schema[]
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return schema.enum[0]
  if (alternative !== undefined) return plainValue(alternative, named)
  switch (schema.type) {
    case 'object':
      return plainObject(schema, named)
    case 'array': {
      const wanted = Object.keys(named).length > 0 ? 1 : 0
      const length = Math.max(schema.minItems ?? 0, Math.min(wanted, schema.maxItems ?? wanted))
      return Array.from({ length }, () => plainValue((schema.items ?? {}) as Schema, named))
    }
    case 'integer':
    case 'number':
      return schema.minimum ?? 1
    case 'boolean':
      return true
    case 'null':
      return null
    default:
      return schema.format === 'date-time' ? new Date().toISOString() : 'test/x'
  }
}

function plainObject(schema: Schema, named: Named): object {
  const required = new Set(schema.required ?? [])
  const entries = Object.entries((schema.properties ?? {}) as Record<string, Schema>).flatMap(
    ([name, property]) => {
      if (Object.hasOwn(named, name)) return [[name, fitting(property, named[name])] as const]
      return required.has(name) ? [[name, plainValue(property, named)] as const] : []
    },
  )
  return Object.fromEntries(entries)
}

/** A named value, in a list where the schema wants one. */
function fitting(unresolved: Schema, value: unknown): unknown {
  const schema = resolved(unresolved)
  const kinds = [schema, ...((schema.anyOf ?? schema.oneOf ?? []) as Schema[]).map(resolved)]
  const isList = kinds.some(({ type }) => type === 'array') && !kinds.some(({ type }) => type === 'string')
  return isList && !Array.isArray(value) ? [value] : value
}
