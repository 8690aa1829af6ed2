import type { Query } from '../port.ts'

/** A value and its type, such as `Array(Nullable(String))`. */
const PLACEHOLDER = /\{(\w+):(\w[\w()]*)\}/g

/**
 * Writes the values of a query into its SQL, as literals: a body has no limit, where an address has one, and so have
 * the values of a form and their number, which only the server's own configuration can raise.
 */
export function inlineValues({ sql, params }: Query): string {
  return sql.replaceAll(PLACEHOLDER, (placeholder, name: string, type: string) =>
    name in params ? literalOf(params[name], type) : placeholder,
  )
}

function literalOf(value: unknown, type: string): string {
  if (typeof value === 'string') return quoted(value)
  if (Array.isArray(value) && value.every(isText))
    return value.length > 0 ? `[${value.map(textLiteral).join(',')}]` : `CAST([], '${type}')`
  // As the server reads numbers that come with an address.
  return `CAST('${Array.isArray(value) ? `[${value.join(',')}]` : String(value)}', '${type}')`
}

function isText(value: unknown): value is string | null {
  return typeof value === 'string' || value === null
}

function textLiteral(text: string | null): string {
  return text === null ? 'NULL' : quoted(text)
}

const ESCAPES: Record<string, string> = { '\\': '\\\\', "'": "\\'", '\0': '\\0' }

/** https://clickhouse.com/docs/sql-reference/syntax#string */
function quoted(text: string): string {
  return `'${text.replaceAll(/[\\'\0]/g, (char) => ESCAPES[char] ?? char)}'`
}
