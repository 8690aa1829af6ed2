/**
 * The job contract as pydantic classes. A code generator for Python would do it too, but this check then needed a
 * Python environment; the contract uses a small part of JSON Schema, which fits on a page.
 */
interface Schema {
  $defs?: Record<string, Schema>
  $ref?: string
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  properties?: Record<string, Schema>
  additionalProperties?: Schema | boolean
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
}

const HEAD = `# Generated from src/training/trainer/contract-wire.ts by "npm run gen"; do not edit.
from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel`

/** One class for every named schema, in their order. @throws Error for a schema that has no counterpart here. */
export function pythonContract(document: object): string {
  const schemas = (document as Schema).$defs ?? {}
  const parts = new Map<string, string>()
  // Python reads from the top, so what a class names has to stand above it.
  function add(name: string): void {
    const schema = schemas[name]
    if (schema === undefined || parts.has(name)) return
    for (const ref of refsIn(schema)) add(ref)
    parts.set(name, schema.oneOf === undefined ? classOf(name, schema) : unionOf(name, schema.oneOf))
  }
  for (const name of Object.keys(schemas)) add(name)
  return `${[HEAD, ...[...parts.values()].map((part) => part.trimEnd())].join('\n\n\n')}\n`
}

function refsIn(schema: Schema): string[] {
  const inner = [...Object.values(schema.properties ?? {}), ...(schema.oneOf ?? []), ...(schema.anyOf ?? [])]
  if (schema.items !== undefined) inner.push(schema.items)
  const own = schema.$ref === undefined ? [] : [nameOf(schema.$ref)]
  return [...own, ...inner.flatMap(refsIn)]
}

function nameOf(ref: string): string {
  return ref.replace('#/$defs/', '')
}

function classOf(name: string, schema: Schema): string {
  const fields = Object.entries(schema.properties ?? {}).map(
    ([field, type]) => `    ${field}: ${typeOf(type)}\n`,
  )
  return `class ${name}(BaseModel):\n    model_config = ConfigDict(extra="forbid")\n${fields.join('')}`
}

function unionOf(name: string, options: Schema[]): string {
  const union = options.map(typeOf).join(' | ')
  const oneLine = `class ${name}(RootModel[${union}]):\n    root: Annotated[${union}, Field(discriminator="kind")]\n`
  if (oneLine.split('\n').every((line) => line.length <= 120)) return oneLine
  const lines = options.map((option, index) => `    ${index === 0 ? '' : '| '}${typeOf(option)}\n`).join('')
  const kindsInOneLine = `${name}Kinds = ${union}`
  const kinds = kindsInOneLine.length <= 120 ? kindsInOneLine : `${name}Kinds = (\n${lines})`
  return `${kinds}\n\n\nclass ${name}(RootModel[${name}Kinds]):\n    root: Annotated[${name}Kinds, Field(discriminator="kind")]\n`
}

const SIMPLE: Record<string, string> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'None',
}

function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return nameOf(schema.$ref)
  if (schema.const !== undefined) return `Literal[${JSON.stringify(schema.const)}]`
  if (schema.enum !== undefined)
    return `Literal[${schema.enum.map((value) => JSON.stringify(value)).join(', ')}]`
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeOf).join(' | ')
  if (schema.type === 'array' && schema.items !== undefined) return `list[${typeOf(schema.items)}]`
  if (schema.type === 'object' && typeof schema.additionalProperties === 'object') {
    return `dict[str, ${typeOf(schema.additionalProperties)}]`
  }
  const types = [schema.type ?? []].flat().map((type) => SIMPLE[type])
  if (types.length === 0 || types.includes(undefined)) {
    throw new Error(`No Python type for ${JSON.stringify(schema)}`)
  }
  return types.join(' | ')
}
