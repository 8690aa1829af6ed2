import { z } from 'zod'
import type { KeepShape } from '../json/lossless-json.ts'
import { JSON_TEXT_MARK } from './json-text-wire.ts'

/**
 * What a schema reads of a value: all of it (`any`), its text, nothing (`drop`), or parts. Where a part is absent, the
 * schema allows no such value, and the value is read whole so that the error can show it.
 */
export type BodyShape = 'any' | 'text' | 'drop' | PartsShape

/** Members of an object by their names, all its other members, and the elements of an array. */
export interface PartsShape {
  members: ReadonlyMap<string, BodyShape>
  others: BodyShape | undefined
  items: BodyShape | undefined
}

/** What a schema reads of a body. */
export function bodyShapeOf(schema: z.ZodType): BodyShape {
  const document = z.toJSONSchema(schema, { unrepresentable: 'any', io: 'input' }) as JsonSchemaNode
  return shapeOf(document, { definitions: document.$defs ?? {}, within: [] }) ?? 'any'
}

/** Which parts of a body its schema keeps as text; undefined when none. */
export function keepShapeOf(schema: z.ZodType): KeepShape | undefined {
  return keptOf(bodyShapeOf(schema))
}

/** Which parts of a shape are text; undefined when none. */
export function keptOf(shape: BodyShape | undefined): KeepShape | undefined {
  if (shape === 'text') return 'text'
  if (typeof shape !== 'object') return undefined
  const kept: Record<string, KeepShape> = {}
  for (const [key, child] of [...shape.members, ['*', merged(shape.others, shape.items)] as const]) {
    const inner = keptOf(child)
    if (inner !== undefined) kept[key] = inner
  }
  return Object.keys(kept).length > 0 ? kept : undefined
}

interface JsonSchemaNode {
  type?: string
  $ref?: string
  $defs?: Record<string, JsonSchemaNode>
  [JSON_TEXT_MARK]?: boolean
  const?: unknown
  enum?: unknown[]
  properties?: Record<string, JsonSchemaNode>
  additionalProperties?: JsonSchemaNode | boolean
  items?: JsonSchemaNode
  prefixItems?: unknown
  anyOf?: JsonSchemaNode[]
  oneOf?: JsonSchemaNode[]
  allOf?: JsonSchemaNode[]
}

interface Scope {
  definitions: Record<string, JsonSchemaNode>
  /** References being followed: a schema that contains itself reads all of the inner value. */
  within: readonly string[]
}

/** Undefined for a schema of nothing but scalars. */
function shapeOf(node: JsonSchemaNode, outer: Scope): BodyShape | undefined {
  // The items of a list may bring their own definitions.
  const scope = { ...outer, definitions: { ...outer.definitions, ...node.$defs } }
  if (node[JSON_TEXT_MARK]) return 'text'
  if (node.$ref !== undefined) return shapeOfRef(node.$ref, scope)
  const options = [...(node.anyOf ?? []), ...(node.oneOf ?? []), ...(node.allOf ?? [])]
  if (options.length > 0) return options.map((option) => shapeOf(option, scope)).reduce(merged, undefined)
  if (node.const !== undefined || node.enum !== undefined) return undefined
  if (node.type === 'object') return shapeOfObject(node, scope)
  if (node.type === 'array') return { members: new Map(), others: undefined, items: itemsOf(node, scope) }
  return node.type === undefined ? 'any' : undefined
}

function shapeOfObject(node: JsonSchemaNode, scope: Scope): PartsShape {
  const members = Object.entries(node.properties ?? {}).map(
    ([key, child]) => [key, shapeOf(child, scope) ?? 'any'] as const,
  )
  return { members: new Map(members), others: othersOf(node, scope), items: undefined }
}

/** A schema that says nothing of other members does not read them; one that forbids them says which it met. */
function othersOf({ additionalProperties, ...node }: JsonSchemaNode, scope: Scope): BodyShape {
  if (typeof additionalProperties === 'object') return shapeOf(additionalProperties, scope) ?? 'any'
  return additionalProperties === undefined && !('patternProperties' in node) ? 'drop' : 'any'
}

function itemsOf({ items, prefixItems }: JsonSchemaNode, scope: Scope): BodyShape {
  return items === undefined || prefixItems !== undefined ? 'any' : (shapeOf(items, scope) ?? 'any')
}

function shapeOfRef(ref: string, { definitions, within }: Scope): BodyShape | undefined {
  const name = ref.replace('#/$defs/', '')
  const definition = definitions[name]
  if (definition === undefined || within.includes(name)) return 'any'
  return shapeOf(definition, { definitions, within: [...within, name] })
}

/**
 * Where the options of a union differ, what any of them keeps as text stays text, and what any of them reads is read.
 */
function merged(a: BodyShape | undefined, b: BodyShape | undefined): BodyShape | undefined {
  if (a === undefined || a === 'drop' || a === b) return b ?? a
  if (b === undefined || b === 'drop') return a
  if (a === 'text' || b === 'text') return 'text'
  const [one, other] = [partsOf(a), partsOf(b)]
  const keys = new Set([...one.members.keys(), ...other.members.keys()])
  const members = [...keys].map((key) => {
    const shape = merged(one.members.get(key) ?? one.others, other.members.get(key) ?? other.others)
    return [key, shape ?? 'any'] as const
  })
  return {
    members: new Map(members),
    others: merged(one.others, other.others),
    items: merged(one.items, other.items),
  }
}

function partsOf(shape: 'any' | PartsShape): PartsShape {
  return shape === 'any' ? { members: new Map(), others: 'any', items: 'any' } : shape
}
