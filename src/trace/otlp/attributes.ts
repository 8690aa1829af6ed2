import { invalidRequest } from '../../errors.ts'
import { isRecord } from '../../json/is-record.ts'
import { JSON_DEPTH_MAX } from '../../json/json-limits.ts'
import { JsonText } from '../../json/lossless-json.ts'
import { parseShallow } from '../../json/parse-shallow.ts'
import { checked } from './checked.ts'
import { AnyValue, KeyValue } from './wire.ts'

/** A value as a call stores it; numbers that JavaScript would change stay text. */
export type Plain = string | number | boolean | null | JsonText | Plain[] | Tree

/** Attributes by the parts of their dotted names. It has no prototype: names such as `__proto__` are names here. */
export interface Tree {
  [name: string]: Plain
}

/** Dots in the names of one list of attributes: each may become an object of some hundred bytes. */
const DOTS_MAX = 100_000

/** Levels of objects from one name, of which conventions need ten: code that walks them recurses as deep. */
const NAME_PARTS_MAX = 100

/** Characters of JSON that are parsed in one list of attributes. Wire: services keep at most 3.5 MiB of a call. */
const JSON_CHARS_MAX = 4 * 1024 * 1024

/**
 * Wire: dotted names become nested objects, and a text that is a JSON array or object becomes that. Objects of one name
 * are merged, whichever way they are written. Where a name continues below a value, as `a` and `a.b` do, the later one
 * is not split, which loses neither; nor is a name of too many parts.
 */
export function treeOf(attributes: readonly unknown[]): Tree {
  const tree = emptyTree()
  let dots = 0
  let jsonChars = 0
  for (const { key, value } of withDotlessFirst(attributes.map(keyValueOf))) {
    const parts = key.split('.', DOTS_MAX + 1)
    dots += parts.length - 1
    if (dots >= DOTS_MAX) throw invalidRequest('The names of the attributes have too many dots')
    const plain = plainOf(value)
    const isJson = typeof plain === 'string' && /^[[{]/.test(plain)
    if (isJson) jsonChars += plain.length
    const shown = isJson && jsonChars <= JSON_CHARS_MAX ? parsed(plain) : plain
    if (!put(tree, parts.length > NAME_PARTS_MAX ? [key] : parts, shown)) tree[key] = shown
  }
  return tree
}

/** The value under a dotted name; undefined where it is absent or empty. */
export function valueAt(tree: Tree, key: string): Plain | undefined {
  const found = anyAt(tree, key)
  return isEmpty(found) ? undefined : found
}

/** The same, also where it is empty. What has exactly this name comes before what has a name below it. */
export function anyAt(tree: Tree, key: string): Plain | undefined {
  const own = tree[key]
  if (own !== undefined) return own
  let found: Plain | undefined = tree
  for (const part of partsOf(key)) {
    if (found === undefined) break
    found = memberOf(found, part)
  }
  return found
}

/** The names of conventions, split once: each is looked for in every span. */
const PARTS = new Map<string, readonly string[]>()

function partsOf(key: string): readonly string[] {
  const known = PARTS.get(key)
  if (known !== undefined) return known
  const parts = key.split('.')
  PARTS.set(key, parts)
  return parts
}

/** The first of several names that has a value. */
export function firstAt(tree: Tree, keys: readonly string[]): { key: string; value: Plain } | undefined {
  for (const key of keys) {
    const value = valueAt(tree, key)
    if (value !== undefined) return { key, value }
  }
  return undefined
}

/** Wire: members that conventions number from zero (`messages.0.role`, `messages.1.role`) are a list. */
export function withLists(value: Plain): Plain {
  if (Array.isArray(value) || !isTree(value)) return value
  const entries = Object.entries(value).map(([key, member]) => [key, withLists(member)] as const)
  const members = new Map(entries)
  const isNumbered = entries.length > 0 && entries.every((_, index) => members.has(String(index)))
  if (isNumbered) return entries.map((_, index) => members.get(String(index)) ?? null)
  const tree = emptyTree()
  for (const [key, member] of entries) tree[key] = member
  return tree
}

/** A value where a text or a number is expected; objects and lists are ignored there. */
export function textOf(value: Plain | undefined): string | undefined {
  if (value instanceof JsonText) return value.text
  return value === undefined || typeof value === 'object' ? undefined : String(value)
}

export function isTree(value: Plain | undefined): value is Tree {
  return isRecord(value) && !(value instanceof JsonText)
}

function emptyTree(): Tree {
  return Object.create(null)
}

type Pair = { key: string; value?: unknown }

/** Of two names in conflict the later one stays unchanged: were it one without a dot, it would replace an object. */
function withDotlessFirst(pairs: readonly Pair[]): Pair[] {
  return pairs.toSorted((one, other) => Number(one.key.includes('.')) - Number(other.key.includes('.')))
}

function keyValueOf(attribute: unknown): Pair {
  return isPair(attribute) ? attribute : checked(KeyValue, attribute, 'a KeyValue')
}

/** Most are, and the schema takes ten times as long to say so. */
function isPair(attribute: unknown): attribute is Pair {
  return isRecord(attribute) && typeof attribute['key'] === 'string'
}

/** @throws 400 for more levels than JSON may have. */
function plainOf(any: unknown, levels = JSON_DEPTH_MAX): Plain {
  if (levels === 0) throw invalidRequest('The span is nested too deeply')
  const simple = simpleOf(any)
  if (simple !== undefined) return simple
  const value = checked(AnyValue, any ?? {}, 'an AnyValue')
  if (value.stringValue !== undefined) return value.stringValue
  if (value.boolValue !== undefined) return value.boolValue
  if (value.intValue !== undefined) return numberOf(String(value.intValue))
  if (value.doubleValue !== undefined) return finiteOf(value.doubleValue)
  if (value.arrayValue !== undefined) return value.arrayValue.values.map((one) => plainOf(one, levels - 1))
  if (value.kvlistValue !== undefined) return objectOf(value.kvlistValue.values, levels - 1)
  if (value.bytesValue === undefined) return null
  return typeof value.bytesValue === 'string'
    ? value.bytesValue
    : Buffer.from(value.bytesValue).toString('base64')
}

/** A text or a number, as most values are; undefined for what the schema has to look at. */
function simpleOf(any: unknown): string | number | undefined {
  if (!isRecord(any)) return undefined
  const [field = '', other] = Object.keys(any)
  const value = any[field]
  if (other !== undefined || typeof value !== 'string') return undefined
  if (field === 'stringValue') return value
  const number = Number(value)
  return field === 'intValue' && Number.isSafeInteger(number) && String(number) === value ? number : undefined
}

/** Names inside a value are not split at dots. */
function objectOf(members: readonly unknown[], levels: number): Tree {
  const object = emptyTree()
  for (const member of members) {
    const { key, value } = keyValueOf(member)
    object[key] = plainOf(value, levels)
  }
  return object
}

/** JSON has no NaN or infinities. */
function finiteOf(double: number | string): Plain {
  return Number.isFinite(double) ? Number(double) : String(double)
}

function numberOf(source: string): number | JsonText {
  const number = Number(source)
  return String(number) === source ? number : new JsonText(source)
}

type Reviver = NonNullable<Parameters<typeof parseShallow>[1]>

/** Wire: a text that only resembles JSON stays a text, and so does JSON of too many levels. */
function parsed(text: string): Plain {
  // TypeScript's reviver type lacks the third argument (ECMAScript "JSON.parse source text access").
  const reviver = (_key: string, value: Plain, context: { source?: string }): Plain => {
    if (typeof value === 'number') return numberOf(context.source ?? String(value))
    return isTree(value) ? Object.assign(emptyTree(), value) : value
  }
  try {
    return parseShallow(text, reviver as Reviver) as Plain
  } catch {
    return text
  }
}

/** False when another value is in the way. */
function put(tree: Tree, path: readonly string[], value: Plain): boolean {
  const last = path.at(-1) ?? ''
  let place = tree
  for (const part of path.slice(0, -1)) {
    place[part] ??= emptyTree()
    const next = place[part]
    if (!isTree(next)) return false
    place = next
  }
  const present = place[last]
  if (!fits(present, value)) return false
  if (isTree(present) && isTree(value)) merge(present, value)
  else place[last] = value
  return true
}

/** Whether a value may take the place of what is present, or be merged with it, so that no name is lost. */
function fits(present: Plain | undefined, value: Plain): boolean {
  if (present === undefined || present === null) return true
  if (isTree(present) && isTree(value))
    return Object.entries(value).every(([name, member]) => fits(present[name], member))
  return shapeOf(present) === shapeOf(value)
}

function merge(present: Tree, added: Tree): void {
  for (const [name, member] of Object.entries(added)) {
    const other = present[name]
    if (isTree(other) && isTree(member)) merge(other, member)
    else present[name] = member
  }
}

function shapeOf(value: Plain): 'list' | 'tree' | 'scalar' {
  if (Array.isArray(value)) return 'list'
  return isTree(value) ? 'tree' : 'scalar'
}

function memberOf(value: Plain | undefined, name: string): Plain | undefined {
  if (Array.isArray(value)) return /^\d+$/.test(name) ? value[Number(name)] : undefined
  return isTree(value) ? value[name] : undefined
}

/** Wire: a value that is false, zero or empty counts as absent. */
function isEmpty(value: Plain | undefined): boolean {
  if (value instanceof JsonText) return false
  return typeof value === 'object' && value !== null ? Object.keys(value).length === 0 : !value
}
