import { invalidRequest } from '../errors.ts'
import { type PatternSize, patternSize } from './pattern-size.ts'

/*
 * The engine compiles a constraint before it answers, and every other constrained request waits meanwhile. With the
 * 1,536 tokens of loom-tiny on two busy cores, a constraint just below one of these limits took about a second or less.
 * Larger vocabularies take longer, and so does a constraint that is near several limits.
 */

/**
 * Sum over all patterns of a schema, of the square of the size when repetitions are written out, times the number of
 * those repetitions that have no fixed count: compiling takes as long. `[a-z]{1,999}` has it all for itself.
 */
const PATTERN_WEIGHT_MAX = 1_000_000

/** Sum of the written-out sizes of patterns that differ: the engine compares each with the others. */
const PATTERN_ATOMS_MAX = 5_000

/** Of all patterns of a schema, or of one expression: to measure them takes some 50 ms at most. */
const PATTERN_CHARS_MAX = 10_000

/** A text that only has to follow an expression is compiled in less time than a schema with it. */
const REGEX_ATOMS_MAX = 4_000

/** Its size times the square of the repetitions without a fixed count: 160 times `.?` takes a second. */
const REGEX_WEIGHT_MAX = 4_000_000

/** Texts with a common beginning take the square of their length. */
const TEXT_BYTES_MAX = 1_000

/** All choices, or all values of `enum` and `const` and texts of tags, together. */
const TEXTS_BYTES_MAX = 20_000

/** A grammar may consist of two texts with a common beginning. */
const GRAMMAR_BYTES_MAX = 6_000

/** Of one object, and of a schema. Any order of optional ones is a path of its own. */
const OBJECT_PROPERTIES_MAX = 500
const PROPERTIES_MAX = 1_000

const NAMES_BYTES_MAX = 30_000

/** Schemas within schemas, and lists of properties: 5,000 of them without anything else take a second. */
const NODES_MAX = 6_000

/** In objects that bound their number, which takes its third power. */
const COUNTED_PROPERTIES_MAX = 64

/** The engine shares the work of equal bounds only. */
const BOUNDS_MAX = 24

/** Each is a long pattern of the engine's: 200 times `ipv6` takes 1.5 s. */
const FORMATS_MAX = 128

/** Each becomes an expression of digits: 1,000 take 2 s. */
const RANGES_MAX = 500
const RANGE_KEYS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum']

/** With `patternProperties` vLLM may take Outlines, which writes out a schema as one expression. */
const PATTERN_PROPERTIES_MAX = 50
const WRITTEN_OUT = [
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  '$ref',
]

const TEXT_KEYS = new Set(['enum', 'const', 'value', 'begin', 'end', 'triggers', 'separator', 'excludes'])

type Node = Record<string, unknown>

/**
 * Of a schema, a structural tag, or a list of what holds them.
 * @param field names it in the error
 * @throws 400 for what would keep the engine busy for too long.
 */
export function limitSchema(schema: unknown, field: string): void {
  const limit = limitOf(field)
  const found = partsOf(schema)
  limit('the number of its objects', { is: found.nodes.length, max: NODES_MAX })
  limit('the characters of its patterns', {
    is: sum(found.patterns.map((pattern) => pattern.length)),
    max: PATTERN_CHARS_MAX,
  })
  const patterns = found.patterns.map((pattern) => ({ pattern, ...patternSize(pattern) }))
  limit('the weight of its patterns (squares of their sizes with repetitions written out)', {
    is: sum(patterns.map(weightOf)),
    max: PATTERN_WEIGHT_MAX,
  })
  limit('the size of its patterns with repetitions written out', {
    is: sum([...new Map(patterns.map(({ pattern, atoms }) => [pattern, atoms])).values()]),
    max: PATTERN_ATOMS_MAX,
  })
  limitTexts(found.texts, field, 'text of enum, const or a tag')
  limit('the bytes of its grammars', { is: sum(found.grammars.map(bytes)), max: GRAMMAR_BYTES_MAX })
  limitProperties(found.nodes, field)
  for (const keys of [
    ['minLength', 'maxLength'],
    ['minItems', 'maxItems', 'minProperties', 'maxProperties', 'min', 'max'],
  ]) {
    const bounds = found.nodes
      .map((node) => keys.map((key) => `${key}:${numberIn(node[key])}`).join())
      .filter((bound) => /\d/.test(bound))
    limit(`the number of different bounds by ${keys.join(', ')}`, {
      is: new Set(bounds).size,
      max: BOUNDS_MAX,
    })
  }
  const formats = found.nodes.filter((node) => typeof node['format'] === 'string').length
  limit('the number of its formats', { is: formats, max: FORMATS_MAX })
  const ranges = found.nodes.filter((node) => RANGE_KEYS.some((key) => typeof node[key] === 'number')).length
  limit('the number of its ranges of numbers', { is: ranges, max: RANGES_MAX })
}

/** The same of JSON in a text; the engine refuses invalid JSON. */
export function limitSchemaText(text: string, field: string): void {
  let schema: unknown
  try {
    schema = JSON.parse(text)
  } catch {
    return
  }
  limitSchema(schema, field)
}

/** @throws 400 like `limitSchema` */
export function limitRegex(regex: string, field: string): void {
  const limit = limitOf(field)
  limit('its characters', { is: regex.length, max: PATTERN_CHARS_MAX })
  const size = patternSize(regex)
  limit('its size with repetitions written out', { is: size.atoms, max: REGEX_ATOMS_MAX })
  limit('its weight (that size times the square of its repetitions without a fixed count)', {
    is: size.atoms * size.variable ** 2,
    max: REGEX_WEIGHT_MAX,
  })
}

/** @throws 400 like `limitSchema` */
export function limitGrammar(grammar: string, field: string): void {
  limitOf(field)('its bytes', { is: bytes(grammar), max: GRAMMAR_BYTES_MAX })
}

/** @throws 400 like `limitSchema` */
export function limitTexts(texts: string[], field: string, name: string): void {
  const limit = limitOf(field)
  const sizes = texts.map(bytes)
  const longest = sizes.reduce((longest, size) => Math.max(longest, size), 0)
  limit(`the bytes of one ${name}`, { is: longest, max: TEXT_BYTES_MAX })
  limit(`the bytes of every ${name} together`, { is: sum(sizes), max: TEXTS_BYTES_MAX })
}

function limitProperties(nodes: Node[], field: string): void {
  const limit = limitOf(field)
  const objects = nodes.map((node) => ({ node, names: Object.keys(nodeIn(node['properties']) ?? {}) }))
  const count = (list: typeof objects) => sum(list.map(({ names }) => names.length))
  const largest = objects.reduce((most, { names }) => Math.max(most, names.length), 0)
  limit('the number of properties of one object', { is: largest, max: OBJECT_PROPERTIES_MAX })
  limit('the number of its properties', { is: count(objects), max: PROPERTIES_MAX })
  const namesBytes = sum(objects.flatMap(({ names }) => names.map(bytes)))
  limit('the bytes of its property names', { is: namesBytes, max: NAMES_BYTES_MAX })
  const counted = objects.filter(({ node }) => 'minProperties' in node || 'maxProperties' in node)
  limit('the number of properties beside minProperties or maxProperties', {
    is: count(counted),
    max: COUNTED_PROPERTIES_MAX,
  })
  if (!nodes.some((node) => 'patternProperties' in node)) return
  limit('the number of properties in a schema with patternProperties', {
    is: count(objects),
    max: PATTERN_PROPERTIES_MAX,
  })
  const beside = WRITTEN_OUT.find((key) =>
    nodes.some((node) => ['number', 'string'].includes(typeof node[key])),
  )
  if (beside !== undefined) {
    throw invalidRequest(
      `${field} is too large to compile: a schema with patternProperties cannot have ${beside}`,
      field,
    )
  }
}

function weightOf({ atoms, variable }: PatternSize): number {
  return atoms * atoms * Math.max(variable, 1)
}

function limitOf(field: string) {
  return (what: string, { is, max }: { is: number; max: number }) => {
    if (is <= max) return
    throw invalidRequest(
      `${field} is too large to compile: ${what} should be at most ${max}, and not ${is}`,
      field,
    )
  }
}

interface Parts {
  nodes: Node[]
  patterns: string[]
  texts: string[]
  grammars: string[]
}

/** Whatever may be a part of a schema; names of properties that look like keywords make it more. */
function partsOf(schema: unknown): Parts {
  const parts: Parts = { nodes: [], patterns: [], texts: [], grammars: [] }
  const waiting = [schema]
  while (waiting.length > 0) {
    const next = waiting.pop()
    for (const item of Array.isArray(next) ? next : []) waiting.push(item)
    const node = nodeIn(next)
    if (node === undefined) continue
    parts.nodes.push(node)
    for (const name of Object.keys(nodeIn(node['patternProperties']) ?? {})) parts.patterns.push(name)
    for (const [key, value] of Object.entries(node)) {
      if (TEXT_KEYS.has(key) && nodeIn(value) === undefined) {
        for (const item of Array.isArray(value) ? value : [value]) parts.texts.push(textOf(item))
      } else if (key === 'pattern' && typeof value === 'string') parts.patterns.push(value)
      else if (key === 'grammar' && typeof value === 'string') parts.grammars.push(value)
      if (typeof value === 'object') waiting.push(value)
    }
  }
  return parts
}

function nodeIn(value: unknown): Node | undefined {
  return isNode(value) ? value : undefined
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function numberIn(value: unknown): number | '' {
  return typeof value === 'number' ? value : ''
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const bytes = (text: string) => Buffer.byteLength(text)

const sum = (numbers: number[]) => numbers.reduce((all, number) => all + number, 0)
