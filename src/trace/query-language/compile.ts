import { invalidRequest } from '../../errors.ts'
import { comparedDateTime, secondsAsDateTimeSql } from '../date-time.ts'
import { contains, containsAnyCase, containsLowerCase, type Find, lowerCase } from './find-text.ts'
import type { Params } from './params.ts'
import type { ConvertTarget, Operand, Operation, Query, SortBy } from './wire.ts'
import { hasNumberedSql, hasWordsSql } from './word-index.ts'

/** What a field is made of; `json` is the text of a JSON leaf, NULL where it is missing or null. */
export type FieldKind = 'text' | 'number' | 'datetime' | 'json'

export interface FieldExpression {
  sql: string
  kind: FieldKind
  /** The column whose JSON text the leaf is taken from: a text that the column lacks, the leaf lacks too. */
  document?: string
  /** No row lacks it: the database then finds ranges of it by an index, which it does not behind `ifNull`. */
  isNeverNull?: boolean
  /** The words of that column are indexed (`word-index.ts`). */
  hasWordIndex?: boolean
  /**
   * A truncated copy of the field: comparing it with texts of fewer than `bytes` has the same result and takes less
   * time.
   */
  truncated?: { field: () => FieldExpression; bytes: number }
  /** `sql` is a column that has a leaf of this document: a merged row has both from the same one of its rows. */
  leafOf?: string
  /** `sql` is an array of such values: a condition holds when it does for any of them. */
  many?: true
}

/** Finds a field of a resource by its path. @throws 403 or 400 for a field that does not exist there. */
export type FieldResolver = (path: string, params: Params) => FieldExpression

/**
 * Conditions of a query: the database plans these in a third of a second, during which nothing else is served; twice as
 * many take three times as long.
 */
const CONDITIONS_MAX = 250

/** Nesting of operations; the database parses a thousand levels, and some operations take several. */
const DEPTH_MAX = 200

/** SQL that is 1 where the query holds and 0 elsewhere, never NULL. @throws 400 for meaningless comparisons. */
export function compileQuery(query: Query, fields: FieldResolver, params: Params): string {
  checkDepth(query, DEPTH_MAX)
  return condition(query.$expr, { fields, params, conditions: 0 })
}

function checkDepth(value: unknown, levels: number): void {
  if (typeof value !== 'object' || value === null) return
  if (levels === 0) throw invalidRequest('The query is nested too deeply')
  for (const inner of Object.values(value)) checkDepth(inner, levels - 1)
}

/**
 * Conditions in SQL, each true for at least one of the rows that were merged into a row for which the query holds: each
 * is of one document, whose leaves and texts a merged row has from one row. None for a query that most rows may match.
 */
export function compilePrefilters(query: Query, fields: FieldResolver, params: Params): string[] {
  const scope = { fields, params, conditions: 0 }
  const required = allRequired(query.$expr).flatMap((operation) => requiredOfRow(operation, scope) ?? [])
  const byDocument = Map.groupBy(required, ({ document }) => document)
  return [...byDocument.values()].map((conditions) => conditions.map(({ sql }) => sql).join(' AND '))
}

/** SQL for ORDER BY: per JSON key existing values first, then by number, then by text. */
export function compileSort(sortBy: readonly SortBy[], fields: FieldResolver, params: Params): string {
  return sortSql(sortKeys(sortBy, fields, params))
}

/**
 * The same by truncated copies where fields have them. `isUnsure` is SQL that is true for rows whose position may
 * differ from that by `compileSort`; all other rows have the same position.
 */
export function compileTruncatedSort(
  sortBy: readonly SortBy[],
  fields: FieldResolver,
  params: Params,
): { order: string; isUnsure: string } {
  const isUnsure: string[] = []
  const keys = sortKeys(sortBy, fields, params).map((key) => {
    if (key.truncated === undefined) return key
    const { sql } = key.truncated.field()
    isUnsure.push(`length(ifNull(${sql}, '')) >= ${key.truncated.bytes}`)
    return { ...key, sql }
  })
  return { order: sortSql(keys), isUnsure: isUnsure.join(' OR ') || '0' }
}

type SortKey = FieldExpression & Pick<SortBy, 'direction'>

function sortKeys(sortBy: readonly SortBy[], fields: FieldResolver, params: Params): SortKey[] {
  return sortBy.map(({ field, direction }) => ({ ...firstOf(fields(field, params)), direction }))
}

function sortSql(keys: readonly SortKey[]): string {
  return keys
    .map(({ sql, kind, direction }) =>
      kind === 'json'
        ? `isNull(${sql}) asc, toFloat64OrNull(${sql}) ${direction}, ${sql} ${direction}`
        : `${sql} ${direction}`,
    )
    .join(', ')
}

/** Arrays are sorted by their first value. */
function firstOf(field: FieldExpression): FieldExpression {
  const { sql, kind, many } = field
  return many ? { sql: `if(empty(${sql}), NULL, ${sql}[1])`, kind } : field
}

interface Scope {
  fields: FieldResolver
  params: Params
  /** Conditions so far. */
  conditions: number
}

interface Literal {
  literal: string | number | boolean | null
}

type Compiled = FieldExpression | Literal

const COMPARISONS = { $eq: '=', $gt: '>', $lt: '<', $gte: '>=', $lte: '<=' } as const

function condition(operation: Operand, scope: Scope): string {
  if (++scope.conditions > CONDITIONS_MAX)
    throw invalidRequest(`A query has at most ${CONDITIONS_MAX} conditions`)
  if ('$and' in operation) return combined(operation.$and, 'AND', scope)
  if ('$or' in operation) return combined(operation.$or, 'OR', scope)
  if ('$not' in operation) return `(NOT ${condition(operation.$not[0], scope)})`
  if ('$in' in operation) return membership(operation.$in[0], operation.$in[1], scope)
  if ('$contains' in operation) return containment(operation.$contains, scope)
  const comparison = comparisonOf(operation)
  if (comparison !== undefined) {
    const [left, right] = comparison.operands.map((operand) => compileOperand(operand, scope))
    if (left !== undefined && right !== undefined)
      return compare(left, comparison.operator, right, scope.params)
  }
  return truth(compileOperand(operation, scope), scope.params)
}

function comparisonOf(operation: Operand): { operator: string; operands: readonly Operand[] } | undefined {
  for (const [name, operator] of Object.entries(COMPARISONS)) {
    const operands: unknown = Reflect.get(operation, name)
    if (operands !== undefined) return { operator, operands: operands as readonly Operand[] }
  }
  return undefined
}

function combined(operands: readonly Operand[], word: 'AND' | 'OR', scope: Scope): string {
  if (operands.length === 0) throw invalidRequest(`Empty ${word} operation`)
  return `(${operands.map((operand) => condition(operand, scope)).join(` ${word} `)})`
}

function compileOperand(operand: Operand, scope: Scope): Compiled {
  if ('$literal' in operand) return { literal: operand.$literal }
  if ('$getField' in operand) return scope.fields(operand.$getField, scope.params)
  if ('$convert' in operand)
    return convert(compileOperand(operand.$convert.input, scope), operand.$convert.to, scope)
  return { sql: condition(operand as Operation, scope), kind: 'number' }
}

function convert(value: Compiled, target: ConvertTarget, scope: Scope): FieldExpression {
  if ('many' in value && target === 'exists') return { sql: `notEmpty(${value.sql})`, kind: 'number' }
  if ('many' in value) {
    const { sql, kind } = convertOne({ sql: 'one', kind: value.kind }, target, scope)
    return { sql: `arrayMap(one -> ${sql}, ${value.sql})`, kind, many: true }
  }
  return convertOne(value, target, scope)
}

function convertOne(value: Compiled, target: ConvertTarget, { params }: Scope): FieldExpression {
  const text = asText(target === 'string' ? value : asCompared(value, []), params)
  switch (target) {
    case 'double':
      return { sql: `toFloat64OrNull(${text})`, kind: 'number' }
    case 'int':
      return { sql: `toInt64OrNull(${text})`, kind: 'number' }
    case 'bool':
      return {
        // The text once: conversions of conversions would double it each time.
        sql: `transform(${text}, ['1', 'true', '0', 'false'], [1, 1, 0, 0], NULL)`,
        kind: 'number',
      }
    case 'exists':
      return { sql: `isNotNull(${text})`, kind: 'number' }
    case 'string':
      return { sql: text, kind: 'text' }
  }
}

/** The value that a field is compared by: its truncated copy, where all other operands are short literals. */
function asCompared(value: Compiled, others: readonly Compiled[]): Compiled {
  if ('literal' in value || value.truncated === undefined) return value
  const { field, bytes } = value.truncated
  const areShort = others.every(
    (other) => 'literal' in other && Buffer.byteLength(String(other.literal)) < bytes,
  )
  return areShort ? field() : value
}

function truth(whole: Compiled, params: Params): string {
  const value = asCompared(whole, [])
  if ('many' in value) return `notEmpty(${value.sql})`
  if ('literal' in value) return value.literal ? '1' : '0'
  if (value.kind === 'number') return `(ifNull(${value.sql}, 0) != 0)`
  return `(ifNull(${asText(value, params)}, '') NOT IN ('', 'false', '0'))`
}

/** A condition on a value, or on any element of an array, which the condition calls `name`. */
function any(value: Compiled, name: string, test: (one: Compiled) => string): string {
  if (!('many' in value)) return test(value)
  return `arrayExists(${name} -> ${test({ sql: name, kind: value.kind })}, ${value.sql})`
}

/**
 * Converts both sides to comparable types; a comparison with a missing value is false. Wire: but the text of a missing
 * JSON leaf is empty.
 */
function compare(first: Compiled, operator: string, second: Compiled, params: Params): string {
  const [left, right] = [asCompared(first, [second]), asCompared(second, [first])]
  if (isNullLiteral(left) || isNullLiteral(right)) {
    const other = isNullLiteral(left) ? right : left
    if (operator !== '=') return '0'
    if ('literal' in other) return other.literal === null ? '1' : '0'
    return 'many' in other ? `empty(${other.sql})` : `isNull(${other.sql})`
  }
  const kinds = [kindOf(left), kindOf(right)]
  const as = kinds.includes('datetime') ? asDatetime : kinds.includes('number') ? asNumber : asComparedText
  const [field, literal] = 'literal' in left ? [right, left] : [left, right]
  const mayHold =
    operator === '=' && as === asComparedText ? `${mayContain(field, [literal], params)} AND ` : ''
  return `(${mayHold}${any(left, 'one', (one) =>
    any(right, 'other', (other) => {
      const compared = `${as(one, params)} ${operator} ${as(other, params)}`
      return isNeverNull(one) && isNeverNull(other) ? compared : `ifNull(${compared}, 0)`
    }),
  )})`
}

function isNeverNull(value: Compiled): boolean {
  return 'literal' in value || value.isNeverNull === true
}

function membership(needle: Operand, options: readonly Operand[], scope: Scope): string {
  const compiled = options.map((option) => compileOperand(option, scope))
  const value = asCompared(compileOperand(needle, scope), compiled)
  if (compiled.length === 0) return '0'
  const strings = compiled.filter((option) => 'literal' in option && typeof option.literal === 'string')
  if (strings.length === compiled.length && kindOf(value) !== 'number' && kindOf(value) !== 'datetime') {
    const list = strings.map((option) => ('literal' in option ? String(option.literal) : ''))
    const bound = scope.params.bindTexts(list)
    const isIn = any(value, 'one', (one) => `ifNull(${asComparedText(one, scope.params)} IN ${bound}, 0)`)
    return `(${mayContain(value, compiled, scope.params)} AND ${isIn})`
  }
  const numbers = compiled.map((option) => ('literal' in option ? option.literal : undefined))
  if (kindOf(value) !== 'datetime' && numbers.every((number) => typeof number === 'number')) {
    const bound = scope.params.bindNumbers(numbers)
    return any(value, 'one', (one) => `ifNull(${asNumber(one, scope.params)} IN ${bound}, 0)`)
  }
  scope.conditions += compiled.length
  if (scope.conditions > CONDITIONS_MAX)
    throw invalidRequest(`A query has at most ${CONDITIONS_MAX} conditions`)
  return `(${compiled.map((option) => compare(value, '=', option, scope.params)).join(' OR ')})`
}

interface Containment {
  input: Operand
  substr: Operand
  case_insensitive?: boolean | null | undefined
}

function containment(spec: Containment, scope: Scope): string {
  const { input, searched, find } = search(spec, scope)
  const substr = asText(searched, scope.params)
  // Wire: every text contains the empty text, even a missing field.
  const whereMissing = 'literal' in searched && searched.literal === '' ? 1 : 0
  const isFound = any(
    input,
    'one',
    (one) => `ifNull(${find(asText(one, scope.params), substr)}, ${whereMissing})`,
  )
  return `(${mayContain(input, [searched], scope.params, { find })} AND ${isFound})`
}

function search(spec: Containment, scope: Scope): { input: Compiled; searched: Compiled; find: Find } {
  const input = compileOperand(spec.input, scope)
  const searched = compileOperand(spec.substr, scope)
  const literal = spec.case_insensitive && 'literal' in searched ? lowerCase(searched.literal) : undefined
  if (literal !== undefined) return { input, searched: { literal }, find: containsLowerCase }
  return { input, searched, find: spec.case_insensitive ? containsAnyCase : contains }
}

/** The operations that must all hold. */
function allRequired(operation: Operand): readonly Operand[] {
  return '$and' in operation ? operation.$and.flatMap(allRequired) : [operation]
}

/** SQL of one document that is true wherever the operation holds, if most rows do not match it. */
function requiredOfRow(operation: Operand, scope: Scope): { document: string; sql: string } | undefined {
  return '$contains' in operation ? requiredText(operation.$contains, scope) : onLeafColumn(operation, scope)
}

/** A text that a document must contain. */
function requiredText(spec: Containment, scope: Scope): { document: string; sql: string } | undefined {
  const { input, searched, find } = search(spec, scope)
  const sql = mayContain(input, [searched], scope.params, { find, index: 'words' })
  const document = 'document' in input ? input.document : undefined
  return sql === ALWAYS || document === undefined ? undefined : { document, sql }
}

/** The operation itself where it compares a column with a leaf, or what that is converted to, with literals. */
function onLeafColumn(operation: Operand, scope: Scope): { document: string; sql: string } | undefined {
  const operands = '$in' in operation ? operation.$in.flat() : comparisonOf(operation)?.operands
  const [compared, ...others] = (operands ?? []).filter((operand) => !('$literal' in operand))
  if (operands === undefined || compared === undefined || others.length > 0) return undefined
  const isConverted = '$convert' in compared && compared.$convert.to !== 'string'
  const path = isConverted ? compared.$convert.input : compared
  if (!('$getField' in path)) return undefined
  const literals = isConverted ? [] : operands.filter((operand) => '$literal' in operand)
  const field = asCompared(
    compileOperand(path, scope),
    literals.map((operand) => compileOperand(operand, scope)),
  )
  const document = 'leafOf' in field ? field.leafOf : undefined
  return document === undefined ? undefined : { document, sql: condition(operation, scope) }
}

/** Text with one possible form in JSON, which only a string or a word can contain. */
const PLAIN = /^(?=.*[a-df-z_ ])[\w .+-]+$/i

/** A condition that always holds. */
const ALWAYS = '1'

/** With more literals, the search does not pay. */
const LITERALS_MAX = 10

/**
 * SQL that is false only where a JSON leaf contains none of the texts, because its document does not. A search is many
 * times as fast as extracting the leaf, which the database then does for fewer documents.
 */
function mayContain(
  value: Compiled,
  literals: readonly Compiled[],
  params: Params,
  { find = contains, index = 'none' }: { find?: Find; index?: 'none' | 'words' } = {},
): string {
  const texts = literals.map((literal) => ('literal' in literal ? literal.literal : undefined))
  const { document, hasWordIndex } = 'document' in value ? value : {}
  const plain = texts.filter((text) => typeof text === 'string').filter((text) => PLAIN.test(text))
  const isPlain = plain.length === texts.length
  if (document === undefined || !isPlain || texts.length === 0 || texts.length > LITERALS_MAX) return ALWAYS
  const found = plain.map((text) => find(`assumeNotNull(${document})`, params.bind(text, 'String')))
  const search = `(${[...found, hasNumberedSql(document)].join(' OR ')})`
  const words = index === 'words' && hasWordIndex ? hasWordsSql(document, plain, params) : undefined
  // The words of a row without an index are made only where the search has found the text.
  return words === undefined ? search : `(${search} AND (${words}))`
}

function isNullLiteral(value: Compiled): boolean {
  return 'literal' in value && value.literal === null
}

function kindOf(value: Compiled): FieldKind {
  if (!('literal' in value)) return value.kind
  return typeof value.literal === 'number' ? 'number' : 'text'
}

function asText(value: Compiled, params: Params): string {
  if ('literal' in value)
    return value.literal === null ? 'NULL' : params.bind(String(value.literal), 'String')
  return value.kind === 'number' || value.kind === 'datetime' ? `toString(${value.sql})` : value.sql
}

function asComparedText(value: Compiled, params: Params): string {
  const text = asText(value, params)
  return kindOf(value) === 'json' ? `ifNull(${text}, '')` : text
}

function asNumber(value: Compiled, params: Params): string {
  if ('literal' in value) {
    const number = typeof value.literal === 'string' ? Number(value.literal || 'NaN') : Number(value.literal)
    return Number.isNaN(number) ? 'NULL' : params.bindNumber(number)
  }
  return value.kind === 'number' ? value.sql : `toFloat64OrNull(${value.sql})`
}

function asDatetime(value: Compiled, params: Params): string {
  if (!('literal' in value)) {
    return value.kind === 'number' ? secondsAsDateTimeSql(value.sql) : value.sql
  }
  const iso = comparedDateTime(typeof value.literal === 'number' ? value.literal : String(value.literal))
  if (iso === undefined) throw invalidRequest(`Not a date-time: ${String(value.literal).slice(0, 100)}`)
  return `parseDateTime64BestEffort(${params.bind(iso, 'String')}, 6, 'UTC')`
}
