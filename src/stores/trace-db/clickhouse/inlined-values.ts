import type { Query } from '../port.ts'

/** Placeholders of texts and of their lists; other values are short. */
const PLACEHOLDER = /\{(\w+):(String|Array\(String\))\}/g

/**
 * Writes the texts of a query into its SQL, as literals: a body has no limit, where an address has one, and so has each
 * value of a form, which only the server's own configuration can raise.
 */
export function inlineTexts({ sql, params }: Query): Query {
  const left = { ...params }
  const inlined = sql.replaceAll(PLACEHOLDER, (placeholder, name: string) => {
    const literal = literalOf(params[name])
    if (literal === undefined) return placeholder
    delete left[name]
    return literal
  })
  return { sql: inlined, params: left }
}

/** A text, or a list of texts, as SQL; undefined for anything else. */
function literalOf(value: unknown): string | undefined {
  if (typeof value === 'string') return quoted(value)
  if (!Array.isArray(value) || !value.every((one) => typeof one === 'string')) return undefined
  return `[${value.map(quoted).join(',')}]`
}

const ESCAPES: Record<string, string> = { '\\': '\\\\', "'": "\\'", '\0': '\\0' }

/** https://clickhouse.com/docs/sql-reference/syntax#string */
function quoted(text: string): string {
  return `'${text.replaceAll(/[\\'\0]/g, (char) => ESCAPES[char] ?? char)}'`
}
