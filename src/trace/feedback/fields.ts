import { invalidRequest } from '../../errors.ts'
import { JsonText, memberText } from '../../lossless-json.ts'
import type { FieldExpression, FieldKind } from '../query-language/compile.ts'
import { jsonLeaf, splitPath } from '../query-language/json-path.ts'
import type { Params } from '../query-language/params.ts'

const COLUMNS = {
  id: 'text',
  project_id: 'text',
  weave_ref: 'text',
  wb_user_id: 'text',
  creator: 'text',
  created_at: 'datetime',
  feedback_type: 'text',
  payload: 'json',
  annotation_ref: 'text',
  runnable_ref: 'text',
  call_ref: 'text',
  trigger_ref: 'text',
  queue_id: 'text',
} satisfies Record<string, FieldKind>

type Column = keyof typeof COLUMNS

/** A row of the table, payload as JSON text. */
export type StoredFeedback = Record<Column, string | null>

/** What a query returns that names no fields. */
export const ALL_COLUMNS = Object.keys(COLUMNS).filter(isColumn)

/** Finds a field by its dotted path. @throws 400 for what is not a field. */
export function feedbackField(path: string, params: Params): FieldExpression {
  if (isColumn(path) && path !== 'payload') return { sql: path, kind: COLUMNS[path] }
  return { sql: jsonLeaf('payload', payloadSteps(path), params), kind: 'json' }
}

/** The column that holds a field. @throws 400 for what is not a field. */
export function columnOf(path: string): Column {
  if (isColumn(path)) return path
  payloadSteps(path)
  return 'payload'
}

/** The value of a field in a stored row. */
export function fieldValue(row: StoredFeedback, path: string): JsonText | null {
  if (isColumn(path) && path !== 'payload') {
    const value = row[path]
    return value === null ? null : new JsonText(JSON.stringify(value))
  }
  let text: string | undefined = row.payload ?? undefined
  for (const step of payloadSteps(path)) {
    if (text === undefined) break
    text = memberText(text, text.startsWith('[') && /^\d+$/.test(step) ? Number(step) : step)
  }
  return text === undefined || text === 'null' ? null : new JsonText(text)
}

function isColumn(name: string): name is Column {
  return Object.hasOwn(COLUMNS, name)
}

function payloadSteps(path: string): string[] {
  const wellFormed = path === 'payload' || (path.startsWith('payload.') && !/(^|[^\\])\.(\.|$)/.test(path))
  if (!wellFormed) throw invalidRequest(`Unknown field: ${path.slice(0, 200)}`)
  return splitPath(path).slice(1)
}
