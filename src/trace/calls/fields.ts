import { notAllowed } from '../../errors.ts'
import type { FieldExpression, FieldKind } from '../query-language/compile.ts'
import { jsonLeaf, splitPath } from '../query-language/json-path.ts'
import type { Params } from '../query-language/params.ts'
import { EXCERPT_BYTES, isInExcerpt } from './excerpt.ts'

/** What a time says in the table while it is not known. */
export const NEVER = "'1900-01-01 00:00:00'"

/** NULL while the call runs. */
export const ENDED_AT = `nullIf(ended_at, ${NEVER})`

/** Whole milliseconds, rounded down; NULL while the call runs. */
export const LATENCY_MS = `toInt64(floor(dateDiff('microsecond', started_at, ${ENDED_AT}) / 1000))`

/** NULL where a person gave none, or took it back. */
export const DISPLAY_NAME = `nullIf(display_name, '')`

/** The name a person reads of an op: the object name of an op ref, or the text itself. */
const OP_SHORT_NAME = `if(startsWith(op_name, 'weave:///'), extract(op_name, '^weave:///[^/]+/[^/]+/op/([^:/]+)'), op_name)`

/** {@link OP_SHORT_NAME} of a call that has been read. */
export function opShortName(opName: string): string {
  return /^weave:\/\/\/[^/]+\/[^/]+\/op\/([^:/]+)/.exec(opName)?.[1] ?? opName
}

/** Wire: an empty exception is none. */
export const STATUS = `multiIf(ifNull(exception, '') != '', 'error', ended_at = ${NEVER}, 'running', error_count > 0, 'descendant_error', 'success')`

/** {@link STATUS} of a call that has been read. */
export function statusOf(call: {
  exception: string | null
  endedAt: string | null
  errorCount: number
}): string {
  if (call.exception) return 'error'
  if (call.endedAt === null) return 'running'
  return call.errorCount > 0 ? 'descendant_error' : 'success'
}

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
  started_at: column('started_at', 'datetime'),
  ended_at: { sql: ENDED_AT, kind: 'datetime' },
  deleted_at: { sql: `nullIf(deleted_at, ${NEVER})`, kind: 'datetime' },
}

export const PAYLOADS: readonly PayloadColumn[] = ['attributes', 'inputs', 'output', 'summary']
export type PayloadColumn = 'attributes' | 'inputs' | 'output' | 'summary'

/** The payload that a name means. Wire: `inputs_dump` is another name of `inputs`, and so on. */
export function payloadNamed(name: string): PayloadColumn | undefined {
  return PAYLOADS.find((payload) => payload === name || `${payload}_dump` === name)
}

/** The name a person reads of a call. */
export const TRACE_NAME = `ifNull(${DISPLAY_NAME}, ${OP_SHORT_NAME})`

/** `summary.weave.*`: what the server derives of a call. */
const DERIVED: Record<string, FieldExpression> = {
  status: { sql: STATUS, kind: 'text' },
  latency_ms: { sql: LATENCY_MS, kind: 'number' },
  trace_name: { sql: TRACE_NAME, kind: 'text' },
}

/** Finds a field of a call by its dotted path. @throws 403 for what is not a field. */
export function callField(path: string, params: Params): FieldExpression {
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
  const leafOf = (document: string): FieldExpression => ({
    sql: jsonLeaf(document, steps, params),
    kind: 'json',
    document,
  })
  const excerpt = EXCERPTS.get(root)
  if (excerpt === undefined || !isInExcerpt(steps)) return leafOf(root)
  return { ...leafOf(root), excerpt: { field: () => leafOf(excerpt), bytes: EXCERPT_BYTES } }
}

/** The columns that hold excerpts of the payloads that are large. */
const EXCERPTS: ReadonlyMap<string, string> = new Map([
  ['inputs', 'inputs_excerpt'],
  ['output', 'output_excerpt'],
])

/** Whether a path may lead into an excerpt. */
export function hasExcerpt(path: string): boolean {
  return EXCERPTS.has(splitPath(path)[0] ?? '')
}
