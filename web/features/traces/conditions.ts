import type { Operand, Operation } from '../../api/calls.ts'
import type { Comparison, Condition, Operator } from './search.ts'

/** What a chip says between its field and its value. */
export const OPERATOR_WORDS: Record<Operator, string> = {
  is: 'is',
  isnt: 'is not',
  contains: 'contains',
  lt: '<',
  lte: '≤',
  gt: '>',
  gte: '≥',
  has: 'is there',
  lacks: 'is missing',
}

/** Fields with a name of their own, and how the API calls them. */
export const FIELDS: Record<string, { path: string; kind: 'text' | 'number' | 'status' }> = {
  status: { path: 'summary.weave.status', kind: 'status' },
  op: { path: 'summary.weave.trace_name', kind: 'text' },
  latency_ms: { path: 'summary.weave.latency_ms', kind: 'number' },
  id: { path: 'id', kind: 'text' },
  trace_id: { path: 'trace_id', kind: 'text' },
  thread_id: { path: 'thread_id', kind: 'text' },
  user: { path: 'wb_user_id', kind: 'text' },
  exception: { path: 'exception', kind: 'text' },
  display_name: { path: 'display_name', kind: 'text' },
}

/** Wire: the API's words for how a call stands. */
export const STATUS_WORDS = ['success', 'error', 'running', 'descendant_error']

export function fieldPath(field: string): string {
  return Object.hasOwn(FIELDS, field) ? (FIELDS[field]?.path ?? field) : field
}

/** What an operator is called on a field: numbers compare, texts contain. */
export function operatorsFor(field: string): readonly Operator[] {
  const kind = Object.hasOwn(FIELDS, field) ? FIELDS[field]?.kind : undefined
  if (kind === 'status') return ['is', 'isnt']
  if (kind === 'number') return ['gt', 'gte', 'lt', 'lte', 'is']
  if (kind === 'text') return ['is', 'isnt', 'contains', 'has', 'lacks']
  return ['is', 'isnt', 'contains', 'gt', 'gte', 'lt', 'lte', 'has', 'lacks']
}

export function needsValue(operator: Operator): boolean {
  return operator !== 'has' && operator !== 'lacks'
}

/** A condition as the query language writes it. */
export function operationOf(condition: Condition): Operation {
  // An opaque part came from a link and goes to the server as it is, which says what is wrong with it.
  if ('expr' in condition) return condition.expr as unknown as Operation
  return comparison(condition)
}

function comparison({ field, op, value }: Comparison): Operation {
  const found: Operand = { $getField: fieldPath(field) }
  const literal: Operand = { $literal: value }
  switch (op) {
    case 'is':
      return { $eq: [found, literal] }
    case 'isnt':
      return { $not: [{ $eq: [found, literal] }] }
    case 'contains':
      return { $contains: { input: found, substr: literal, case_insensitive: true } }
    case 'has':
      return { $not: [{ $eq: [found, { $literal: null }] }] }
    case 'lacks':
      return { $eq: [found, { $literal: null }] }
    default:
      return ordered(op, found, value)
  }
}

function ordered(op: 'lt' | 'lte' | 'gt' | 'gte', found: Operand, value: string): Operation {
  const number = Number(value)
  const isNumber = value.trim() !== '' && !Number.isNaN(number)
  const pair: [Operand, Operand] = isNumber
    ? [{ $convert: { input: found, to: 'double' } }, { $literal: number }]
    : [found, { $literal: value }]
  switch (op) {
    case 'lt':
      return { $lt: pair }
    case 'lte':
      return { $lte: pair }
    case 'gt':
      return { $gt: pair }
    case 'gte':
      return { $gte: pair }
  }
}

/** Where a free text is looked for. */
const SEARCHED = ['inputs', 'output', 'op_name', 'exception', 'display_name', 'attributes']

export function textOperation(text: string): Operation {
  return {
    $or: SEARCHED.map((field) => ({
      $contains: { input: { $getField: field }, substr: { $literal: text }, case_insensitive: true },
    })),
  }
}

/** `latency_ms > 2000`, as a chip shows it. */
export function conditionText(condition: Condition): string {
  if ('expr' in condition) return JSON.stringify(condition.expr)
  const { field, op, value } = condition
  return needsValue(op) ? `${field} ${OPERATOR_WORDS[op]} ${value}` : `${field} ${OPERATOR_WORDS[op]}`
}

const TYPED_OPERATORS: readonly [string, Operator][] = [
  ['>=', 'gte'],
  ['<=', 'lte'],
  ['>', 'gt'],
  ['<', 'lt'],
  ['!=', 'isnt'],
  ['=', 'is'],
]

/**
 * What a person typed as a condition: `status:error`, `latency:>2s`, `inputs.question:*refund*`, `-op:x`. Undefined for
 * anything else.
 */
export function parseCondition(typed: string): Comparison | undefined {
  const match = /^(-?)([\w.]+(?:\[\d+\])?[\w.]*):(.+)$/.exec(typed.trim())
  if (match === null) return undefined
  const [, minus, name = '', rest = ''] = match
  const field = name === 'latency' ? 'latency_ms' : name
  if (rest === '*') return { field, op: minus === '-' ? 'lacks' : 'has', value: '' }
  const contained = /^\*(.+)\*$/.exec(rest)?.[1]
  if (contained !== undefined) return { field, op: 'contains', value: contained }
  const [sign, op] = TYPED_OPERATORS.find(([text]) => rest.startsWith(text)) ?? ['', 'is' as const]
  const value = unquoted(rest.slice(sign.length))
  if (value === '') return undefined
  return {
    field,
    op: minus === '-' && op === 'is' ? 'isnt' : op,
    value: field === 'latency_ms' ? String(millisecondsOf(value)) : value,
  }
}

function unquoted(text: string): string {
  return /^".*"$/.test(text) ? text.slice(1, -1) : text
}

const UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, min: 60_000, h: 3_600_000 }

function millisecondsOf(text: string): number | string {
  const [, amount = '', unit = 'ms'] = /^([\d.]+)\s*(ms|s|min|m|h)?$/.exec(text) ?? []
  return amount === '' ? text : Number(amount) * (UNITS[unit] ?? 1)
}
