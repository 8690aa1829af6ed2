import { z } from 'zod'
import { JsonText, type KeepShape } from './lossless-json.ts'

const MARK = 'x-json-text'

/** Any JSON value, kept as the client's own text. */
export const AnyJson = z.custom<JsonText>((value) => value instanceof JsonText).meta({ [MARK]: true })

/** A JSON object, kept as the client's own text. */
export const JsonObject = z
  .custom<JsonText>((value) => value instanceof JsonText && value.text.startsWith('{'), {
    error: 'Input should be a valid dictionary',
    params: { type: 'dict_type' },
  })
  .meta({ [MARK]: true, type: 'object' })

/** Which parts of a body its schema wants as text; undefined when none. */
export function keepShapeOf(schema: z.ZodType): KeepShape | undefined {
  const document = z.toJSONSchema(schema, { unrepresentable: 'any', io: 'input' }) as JsonSchemaNode
  return shapeOf(document, { definitions: document.$defs ?? {}, within: [] })
}

interface JsonSchemaNode {
  $ref?: string
  $defs?: Record<string, JsonSchemaNode>
  [MARK]?: boolean
  properties?: Record<string, JsonSchemaNode>
  additionalProperties?: JsonSchemaNode | boolean
  items?: JsonSchemaNode
  anyOf?: JsonSchemaNode[]
  oneOf?: JsonSchemaNode[]
  allOf?: JsonSchemaNode[]
}

interface Scope {
  definitions: Record<string, JsonSchemaNode>
  /** References being followed; a recursive schema ends where it meets itself. */
  within: readonly string[]
}

function shapeOf(node: JsonSchemaNode, scope: Scope): KeepShape | undefined {
  if (node[MARK]) return 'text'
  if (node.$ref !== undefined) return shapeOfRef(node.$ref, scope)
  const shape: Record<string, KeepShape> = {}
  for (const [key, child] of Object.entries(node.properties ?? {})) add(shape, key, shapeOf(child, scope))
  if (node.items) add(shape, '*', shapeOf(node.items, scope))
  if (typeof node.additionalProperties === 'object')
    add(shape, '*', shapeOf(node.additionalProperties, scope))
  for (const option of [...(node.anyOf ?? []), ...(node.oneOf ?? []), ...(node.allOf ?? [])]) {
    const inner = shapeOf(option, scope)
    if (inner === 'text') return 'text'
    for (const [key, child] of Object.entries(inner ?? {})) add(shape, key, child)
  }
  return Object.keys(shape).length > 0 ? shape : undefined
}

function shapeOfRef(ref: string, { definitions, within }: Scope): KeepShape | undefined {
  const name = ref.replace('#/$defs/', '')
  const definition = definitions[name]
  if (definition === undefined || within.includes(name)) return undefined
  return shapeOf(definition, { definitions, within: [...within, name] })
}

function add(shape: Record<string, KeepShape>, key: string, child: KeepShape | undefined): void {
  if (child === undefined) return
  shape[key] = merged(shape[key], child)
}

/** Where the options of a union differ, what any of them wants as text stays text. */
function merged(present: KeepShape | undefined, child: KeepShape): KeepShape {
  if (present === undefined || present === 'text' || child === 'text')
    return present === 'text' ? present : child
  const union: Record<string, KeepShape> = { ...present }
  for (const [key, inner] of Object.entries(child)) union[key] = merged(union[key], inner)
  return union
}
