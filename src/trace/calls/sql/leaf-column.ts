import { createHash } from 'node:crypto'
import type { FieldExpression } from '../../query-language/compile.ts'
import { jsonLeaf, splitPath } from '../../query-language/json-path.ts'
import { PAYLOADS, payloadNamed } from './table.ts'
import { isInTruncated, readablePayload, TRUNCATED_BYTES, truncatedColumn } from './truncated.ts'

/**
 * A leaf column keeps one leaf of a payload by itself, such as `output.score`, so that conditions and orders read some
 * bytes of each call instead of a document. The database fills it from the payload, or from its truncated copy, as a
 * row is written, and computes it where an older row lacks it. It is NULL exactly where the payload is, so a merged
 * call has the leaf of the same row as the payload: a missing leaf is a text of its own that replaces an older one.
 */

/** Every leaf column has a name with this beginning, which no other column has. */
export const LEAF_COLUMN_PREFIX = 'leaf_'

/** Longer paths lead to keys that are data, and deeper ones cost every row that is written. */
const PATH_BYTES_MAX = 200

/** A payload and up to eight steps below it. */
const LEAF_PATH = new RegExp(
  String.raw`^(?:${PAYLOADS.join('|')})(?:\.(?:\\\.|\\(?!\.)|[^.\\])+){1,8}$`,
  'su',
)

/** Stands for a leaf that the payload does not have: no JSON text has this byte. */
const MISSING = String.raw`'\xff'`

/** Ends a text that is cut, so that it is no number. */
const CUT = String.raw`'\x01'`

/** Hex digits of a digest in a name. */
const NAME_DIGITS = 16

/** Whether a path can have a column: it leads to a leaf of a payload that the payload's truncated copy has as well. */
export function mayHaveColumn(path: string): boolean {
  if (Buffer.byteLength(path) > PATH_BYTES_MAX || !path.isWellFormed() || !LEAF_PATH.test(path)) return false
  const [root, ...steps] = splitPath(path)
  return isInTruncated(steps) && !(root === 'summary' && steps[0] === 'weave')
}

/**
 * The name of a path's column, of its value: a column that was made by another version of this code is not taken for
 * it.
 */
export function leafColumnName(path: string): string {
  return LEAF_COLUMN_PREFIX + createHash('sha256').update(valueSql(path)).digest('hex').slice(0, NAME_DIGITS)
}

/** SQL that declares a path's column; its comment is the path. */
export function leafColumnSql(path: string): string {
  const type = 'SimpleAggregateFunction(anyLast, Nullable(String))'
  return `${leafColumnName(path)} ${type} MATERIALIZED ${valueSql(path)} COMMENT ${textLiteral(path)}`
}

function valueSql(path: string): string {
  const [name = '', ...steps] = splitPath(path)
  const root = payloadNamed(name)
  if (root === undefined) throw new TypeError(`${path} leads to no payload`)
  const copy = truncatedColumn(root)
  const document = copy ?? readablePayload(root)
  const literals = {
    bind: (value: unknown) => (typeof value === 'number' ? String(value) : textLiteral(value)),
  }
  // A lambda names the leaf, which the database would otherwise extract wherever it occurs: that takes three times as
  // long.
  const isWhole = `length(leaf) < ${TRUNCATED_BYTES} OR isNotNull(toFloat64OrNull(leaf))`
  const kept = `if(${isWhole}, leaf, concat(substring(leaf, 1, ${TRUNCATED_BYTES}), ${CUT}))`
  const value = `arrayMap(leaf -> ifNull(${kept}, ${MISSING}), [${jsonLeaf(document, steps, literals)}])[1]`
  return `if(isNull(${copy ?? root}), NULL, ${value})`
}

/**
 * A leaf as its column has it. Compared with a text of fewer than {@link TRUNCATED_BYTES}, and as a number, it is the
 * same as the whole leaf.
 */
export function leafColumnField(path: string): FieldExpression {
  const [payload = ''] = splitPath(path)
  return { sql: `nullIf(${leafColumnName(path)}, ${MISSING})`, kind: 'json', leafOf: payload }
}

/** A text in the form of a literal, since a definition cannot have placeholders: every byte is escaped. */
function textLiteral(value: unknown): string {
  const bytes = [...Buffer.from(String(value))]
  return `'${bytes.map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('')}'`
}
