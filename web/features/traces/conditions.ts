import type { Operand, Operation } from '../../api/calls.ts'
import { declaresKind, KIND_PATHS, wordsOfKind } from '../../api/op-kinds.ts'
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

/**
 * Fields with a name of their own, and how the API calls them; a choice has few values, which are only equal or not.
 */
export const FIELDS: Record<string, { path: string; kind: 'text' | 'number' | 'choice' }> = {
  status: { path: 'summary.weave.status', kind: 'choice' },
  kind: { path: 'attributes.weave.kind', kind: 'choice' },
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
  if (field === 'kind') return ['is', 'isnt', 'has', 'lacks']
  if (kind === 'choice') return ['is', 'isnt']
  if (kind === 'number') return ['gt', 'gte', 'lt', 'lte', 'is']
  if (kind === 'text') return ['is', 'isnt', 'contains', 'has', 'lacks']
  return ['is', 'isnt', 'contains', 'gt', 'gte', 'lt', 'lte', 'has', 'lacks']
}

export function needsValue(operator: Operator): boolean {
  return operator !== 'has' && operator !== 'lacks'
}

/** A condition as the query language writes it. */
export function operationOf(condition: Condition): Operation {
  // An opaque part came from a link and goes to the server unchanged, which reports errors in it.
  if ('expr' in condition) return condition.expr as unknown as Operation
  return comparison(condition)
}

function comparison({ field, op, value }: Comparison): Operation {
  if (field === 'kind') return kindOperation(op, value)
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

/** Clients declare a kind at several places and in several words. */
function kindOperation(op: Operator, value: string): Operation {
  const isThere: Operation = {
    $or: KIND_PATHS.map((path) => ({ $not: [{ $eq: [{ $getField: path }, { $literal: null }] }] })),
  }
  if (op === 'has') return isThere
  if (op === 'lacks') return { $not: [isThere] }
  const declares = declaresKind(wordsOfKind(value))
  return op === 'isnt' ? { $not: [declares] } : declares
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

/** Wire: to the query language what a payload lacks is equal to an empty text. */
const EMPTY_WORDS: Partial<Record<Operator, string>> = {
  is: 'is empty or missing',
  isnt: 'is neither empty nor missing',
}

/** `latency_ms > 2000`, as a chip shows it. */
export function conditionText(condition: Condition): string {
  if ('expr' in condition) return JSON.stringify(condition.expr)
  const { field, op, value } = condition
  if (value === '' && !Object.hasOwn(FIELDS, field) && Object.hasOwn(EMPTY_WORDS, op))
    return `${field} ${EMPTY_WORDS[op]}`
  return needsValue(op) ? `${field} ${OPERATOR_WORDS[op]} ${value}` : `${field} ${OPERATOR_WORDS[op]}`
}
