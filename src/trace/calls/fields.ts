import { notAllowed } from '../../errors.ts'
import type { FieldExpression, FieldKind } from '../query-language/compile.ts'
import { jsonLeaf, splitPath } from '../query-language/json-path.ts'
import type { Params } from '../query-language/params.ts'

const COLUMNS: Record<string, FieldKind> = {
  id: 'text',
  project_id: 'text',
  trace_id: 'text',
  parent_id: 'text',
  thread_id: 'text',
  turn_id: 'text',
  op_name: 'text',
  exception: 'text',
  wb_user_id: 'text',
  wb_run_id: 'text',
  wb_run_step: 'number',
  wb_run_step_end: 'number',
  started_at: 'datetime',
  ended_at: 'datetime',
  deleted_at: 'datetime',
}

export const PAYLOADS: readonly PayloadColumn[] = ['attributes', 'inputs', 'output', 'summary']
export type PayloadColumn = 'attributes' | 'inputs' | 'output' | 'summary'

const DISPLAY_NAME = `nullIf(display_name, '')`

/** The name a person reads of an op: the object name of an op ref, or the text itself. */
const OP_SHORT_NAME = `if(startsWith(op_name, 'weave:///'), extract(op_name, '/op/([^:/]+)'), op_name)`

/** `summary.weave.*`: what the server derives of a call. Wire: an empty exception is none. */
const DERIVED: Record<string, FieldExpression> = {
  status: {
    sql: `multiIf(ifNull(exception, '') != '', 'error', isNull(ended_at), 'running', error_count > 0, 'descendant_error', 'success')`,
    kind: 'text',
  },
  latency_ms: { sql: `intDiv(dateDiff('microsecond', started_at, ended_at), 1000)`, kind: 'number' },
  trace_name: { sql: `ifNull(${DISPLAY_NAME}, ${OP_SHORT_NAME})`, kind: 'text' },
}

/** Finds a field of a call by its dotted path. @throws 403 for what is not a field. */
export function callField(path: string, params: Params): FieldExpression {
  const kind = Object.hasOwn(COLUMNS, path) ? COLUMNS[path] : undefined
  if (kind !== undefined) return { sql: path, kind }
  if (path === 'display_name') return { sql: DISPLAY_NAME, kind: 'text' }
  const [root = '', ...steps] = splitPath(path)
  if (root === 'summary' && steps[0] === 'weave') {
    const name = steps.slice(1).join('.')
    const derived = Object.hasOwn(DERIVED, name) ? DERIVED[name] : undefined
    if (derived === undefined) throw notAllowed(`Field ${path} is not allowed`)
    return derived
  }
  if (!PAYLOADS.some((payload) => payload === root))
    throw notAllowed(`Field ${path.slice(0, 200)} is not allowed`)
  return { sql: jsonLeaf(root, steps, params), kind: 'json' }
}
