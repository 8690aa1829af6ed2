import type { Operation } from '../../api/calls.ts'
import { DECLARED_KINDS } from '../../api/op-kinds.ts'
import { FIELDS, operationOf, textOperation } from './conditions.ts'
import type { Condition, Operator, TracesSearch } from './search.ts'
import { operationsOf } from './use-traces.ts'

type Asked = Pick<TracesSearch, 'filter' | 'text'>

/** Chips and search as the API's query language; empty where there are none. */
export function queryText(search: Asked): string {
  const operations = operationsOf(search)
  return operations.length === 0 ? '' : layout({ $expr: { $and: operations } }, '')
}

/** What fits one line of the editor stands on one. */
const LINE_CHARS = 84
const INDENT = '  '

function layout(value: unknown, indent: string): string {
  const line = JSON.stringify(value)
  if (indent.length + line.length <= LINE_CHARS || typeof value !== 'object' || value === null) return line
  const inner = indent + INDENT
  if (Array.isArray(value))
    return `[\n${value.map((each) => inner + layout(each, inner)).join(',\n')}\n${indent}]`
  // One key is an operation: its braces need no lines of their own.
  const [[key, only] = ['', undefined], ...others] = Object.entries(value)
  if (others.length === 0) return `{${JSON.stringify(key)}: ${layout(only, indent)}}`
  const entries = Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}: ${layout(each, inner)}`)
  return `{\n${entries.map((each) => inner + each).join(',\n')}\n${indent}}`
}

/** A parsed query, as the page keeps it, or the reason why it is invalid. */
export type ReadQuery = { asked: Asked; query: { $expr: Operation } | undefined } | { problem: string }

/**
 * Parses a query that a person wrote: parts that chips or the search can express become these, others stay unchanged.
 */
export function readQuery(text: string): ReadQuery {
  if (text.trim() === '') return { asked: { filter: [], text: '' }, query: undefined }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return { problem: error instanceof Error ? error.message : 'This is no JSON' }
  }
  if (!isRecord(value)) return { problem: 'A query is an object: {"$expr": …}' }
  const keys = Object.keys(value)
  if (keys.length !== 1 || keys[0] !== '$expr')
    return {
      problem: `A query has the one key "$expr", not ${keys.map((key) => `"${key}"`).join(', ') || 'none'}`,
    }
  const expr = value['$expr']
  if (!isRecord(expr) || Object.keys(expr).length !== 1)
    return { problem: '"$expr" holds one operation, for instance {"$and": […]}' }
  const parts = Array.isArray(expr['$and']) ? expr['$and'] : [expr]
  if (parts.length === 0) return { asked: { filter: [], text: '' }, query: undefined }
  const odd = parts.find((part) => !isRecord(part) || Object.keys(part).length !== 1)
  if (odd !== undefined) return { problem: `This is no operation: ${JSON.stringify(odd).slice(0, 80)}` }
  const asked = parts.reduce<Asked>(addPart, { filter: [], text: '' })
  // The API checks operations; here only their shape is checked.
  return { asked, query: { $expr: expr as unknown as Operation } }
}

function addPart({ filter, text }: Asked, part: Record<string, unknown>): Asked {
  const searched = searchedText(part)
  if (text === '' && searched !== undefined) return { filter, text: searched }
  return { filter: [...filter, conditionOf(part)], text }
}

/** The condition that is written like this, or else this itself. */
export function conditionOf(expr: Record<string, unknown>): Condition {
  const written = JSON.stringify(expr)
  const found = [...candidates(expr), ...KIND_CONDITIONS].find(
    (condition) => JSON.stringify(operationOf(condition)) === written,
  )
  return found ?? { expr }
}

/** Conditions on the kind are written in several paths and words, so each of the few there are is looked at. */
const KIND_CONDITIONS: readonly Condition[] = [
  ...DECLARED_KINDS.flatMap((value) =>
    (['is', 'isnt'] as const).map((op): Condition => ({ field: 'kind', op, value })),
  ),
  { field: 'kind', op: 'has', value: '' },
  { field: 'kind', op: 'lacks', value: '' },
]

/** Conditions that it may be: whether one is, writing it tells. */
function candidates(expr: Record<string, unknown>): Condition[] {
  const [[name, held] = ['', undefined]] = Object.entries(expr)
  const inner = name === '$not' && Array.isArray(held) && isRecord(held[0]) ? held[0] : undefined
  if (inner !== undefined) return [...comparisons(inner['$eq'], ['isnt', 'has'])]
  if (name === '$contains' && isRecord(held))
    return comparisons([held['input'], held['substr']], ['contains'])
  const operators: Record<string, Operator[]> = {
    $eq: ['is', 'lacks'],
    $lt: ['lt'],
    $lte: ['lte'],
    $gt: ['gt'],
    $gte: ['gte'],
  }
  return comparisons(held, operators[name] ?? [])
}

function comparisons(pair: unknown, operators: readonly Operator[]): Condition[] {
  if (!Array.isArray(pair)) return []
  const [found, literal] = pair as unknown[]
  const converted = isRecord(found) && isRecord(found['$convert']) ? found['$convert']['input'] : found
  const path = isRecord(converted) ? converted['$getField'] : undefined
  const value = isRecord(literal) ? literal['$literal'] : undefined
  if (typeof path !== 'string') return []
  const field = Object.entries(FIELDS).find(([, known]) => known.path === path)?.[0] ?? path
  return operators.map((op) => ({ field, op, value: value == null ? '' : String(value) }))
}

function searchedText(expr: Record<string, unknown>): string | undefined {
  const first = Array.isArray(expr['$or']) ? (expr['$or'][0] as unknown) : undefined
  const contains = isRecord(first) ? first['$contains'] : undefined
  const substr = isRecord(contains) ? contains['substr'] : undefined
  const text = isRecord(substr) ? substr['$literal'] : undefined
  if (typeof text !== 'string') return undefined
  return JSON.stringify(textOperation(text)) === JSON.stringify(expr) ? text : undefined
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
