import type { FieldExpression } from '../../query-language/compile.ts'
import type { Params } from '../../query-language/params.ts'
import { callField } from './fields.ts'

/** A field behind refs: their path in the call, the refs, and the value of each. */
export interface ExpandedField {
  /** The path of the refs in the call. */
  column: string
  refs: readonly string[]
  /** In the order of the refs; null for an unresolved one. */
  texts: readonly (string | null)[]
}

/** Wire: where a call has the value itself instead of a ref, that value is used. */
export function expandedField(path: string, expanded: ExpandedField, params: Params): FieldExpression {
  const inCall = callField(path, params)
  if (expanded.refs.length === 0) return inCall
  const ref = `ifNull(${callField(expanded.column, params).sql}, '')`
  const refs = params.bind(expanded.refs, 'Array(String)')
  const texts = params.bind(expanded.texts, 'Array(Nullable(String))')
  const behind = `transform(${ref}, ${refs}, ${texts}, NULL)`
  return { sql: `if(startsWith(${ref}, 'weave:///'), ${behind}, ${inCall.sql})`, kind: 'json' }
}
