import { notAllowed } from '../../../errors.ts'
import type { FieldExpression, FieldKind } from '../../query-language/compile.ts'
import { jsonLeaf, splitPath } from '../../query-language/json-path.ts'
import type { Params } from '../../query-language/params.ts'
import { DISPLAY_NAME, ENDED_AT, LATENCY_MS, STATUS, TRACE_NAME } from './derived.ts'
import { leafColumnField } from './leaf-column.ts'
import { NEVER, PAYLOADS, payloadNamed, WORD_INDEXED } from './table.ts'
import { isInTruncated, readablePayload, TRUNCATED_BYTES, truncatedColumn } from './truncated.ts'

const optional = (column: string): FieldExpression => ({ sql: `nullIf(${column}, '')`, kind: 'text' })
const column = (name: string, kind: FieldKind): FieldExpression => ({ sql: name, kind })

const COLUMNS: Record<string, FieldExpression> = {
  id: column('id', 'text'),
  project_id: column('project_id', 'text'),
  trace_id: column('trace_id', 'text'),
  parent_id: optional('parent_id'),
  thread_id: optional('thread_id'),
  turn_id: optional('turn_id'),
  op_name: column('op_name', 'text'),
  display_name: { sql: DISPLAY_NAME, kind: 'text' },
  exception: column('exception', 'text'),
  wb_user_id: optional('wb_user_id'),
  wb_run_id: optional('wb_run_id'),
  wb_run_step: column('wb_run_step', 'number'),
  wb_run_step_end: column('wb_run_step_end', 'number'),
  started_at: { ...column('started_at', 'datetime'), isNeverNull: true },
  ended_at: { sql: ENDED_AT, kind: 'datetime' },
  deleted_at: { sql: `nullIf(deleted_at, ${NEVER})`, kind: 'datetime' },
}

/** `summary.weave.*`: what the server derives of a call. */
const DERIVED: Record<string, FieldExpression> = {
  status: { sql: STATUS, kind: 'text' },
  latency_ms: { sql: LATENCY_MS, kind: 'number' },
  trace_name: { sql: TRACE_NAME, kind: 'text' },
}

/** Finds a field of a call by its dotted path; some have leaf columns. @throws 403 for what is not a field. */
export function callField(path: string, params: Params, leafColumns?: ReadonlySet<string>): FieldExpression {
  const known = Object.hasOwn(COLUMNS, path) ? COLUMNS[path] : undefined
  if (known !== undefined) return known
  const [name = '', ...steps] = splitPath(path)
  // Wire: the other name of a payload has no paths.
  const root = steps.length === 0 ? payloadNamed(name) : PAYLOADS.find((payload) => payload === name)
  if (root === 'summary' && steps[0] === 'weave') {
    const member = steps.slice(1).join('.')
    const derived = Object.hasOwn(DERIVED, member) ? DERIVED[member] : undefined
    if (derived === undefined) throw notAllowed(`Field ${path} is not allowed`)
    return derived
  }
  if (root === undefined) throw notAllowed(`Field ${path.slice(0, 200)} is not allowed`)
  const leafOf = (document: string, text: string): FieldExpression => ({
    sql: jsonLeaf(text, steps, params),
    kind: 'json',
    document,
  })
  const whole = { ...leafOf(root, readablePayload(root)), hasWordIndex: WORD_INDEXED.has(root) }
  if (leafColumns?.has(path))
    return { ...whole, truncated: { field: () => leafColumnField(path), bytes: TRUNCATED_BYTES } }
  const truncated = truncatedColumn(root)
  if (truncated === undefined || !isInTruncated(steps)) return whole
  return { ...whole, truncated: { field: () => leafOf(truncated, truncated), bytes: TRUNCATED_BYTES } }
}
