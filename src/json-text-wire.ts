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
  const document = z.toJSONSchema(schema, { unrepresentable: 'any', io: 'input', reused: 'inline' })
  return shapeOf(document as JsonSchemaNode)
}

interface JsonSchemaNode {
  [MARK]?: boolean
  properties?: Record<string, JsonSchemaNode>
  additionalProperties?: JsonSchemaNode | boolean
  items?: JsonSchemaNode
  anyOf?: JsonSchemaNode[]
  oneOf?: JsonSchemaNode[]
  allOf?: JsonSchemaNode[]
}

function shapeOf(node: JsonSchemaNode): KeepShape | undefined {
  if (node[MARK]) return 'text'
  const shape: Record<string, KeepShape> = {}
  for (const [key, child] of Object.entries(node.properties ?? {})) add(shape, key, shapeOf(child))
  if (node.items) add(shape, '*', shapeOf(node.items))
  if (typeof node.additionalProperties === 'object') add(shape, '*', shapeOf(node.additionalProperties))
  for (const option of [...(node.anyOf ?? []), ...(node.oneOf ?? []), ...(node.allOf ?? [])]) {
    const inner = shapeOf(option)
    if (inner === 'text') return 'text'
    for (const [key, child] of Object.entries(inner ?? {})) add(shape, key, child)
  }
  return Object.keys(shape).length > 0 ? shape : undefined
}

function add(shape: Record<string, KeepShape>, key: string, child: KeepShape | undefined): void {
  if (child === undefined) return
  const present = shape[key]
  shape[key] = typeof present === 'object' && typeof child === 'object' ? { ...present, ...child } : child
}
