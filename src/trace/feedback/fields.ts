import { invalidRequest } from '../../errors.ts'
import { partTexts } from '../../json/lossless-json.ts'
import type { FieldExpression, FieldKind } from '../query-language/compile.ts'
import { jsonLeaf, splitPath } from '../query-language/json-path.ts'
import type { Params } from '../query-language/params.ts'
import { readableJson } from '../query-language/readable-json.ts'

/** `texts` is an array of texts, `map` has texts or numbers under names; paths lead into both, as into `json`. */
type ColumnKind = FieldKind | 'texts' | 'map'

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
  scorer_tags: 'texts',
  scorer_tag_reasons: 'map',
  scorer_tag_confidences: 'map',
  scorer_ratings: 'map',
  scorer_rating_reasons: 'map',
  scorer_rating_confidences: 'map',
  scorer_trace_id: 'text',
  span_agent_name: 'text',
  span_agent_version: 'text',
  span_status_code: 'text',
  span_conversation_id: 'text',
  span_trace_id: 'text',
} as const satisfies Record<string, ColumnKind>

type Column = keyof typeof COLUMNS

/** A row of the table: texts, the payload as JSON text, arrays and maps. */
export type StoredFeedback = Record<Column, unknown>

/** Columns of a query that names no fields, and the meaning of `*`. */
export const ALL_COLUMNS = Object.keys(COLUMNS).filter(isColumn)

/**
 * Whether a query that names no fields returns this one of a row. Wire: older clients refuse a row with members that
 * they do not know, and newer ones have defaults for these, so a row has them only where they are not empty.
 */
export function isShown(row: StoredFeedback, field: string): boolean {
  return !(isColumn(field) && /^(?:scorer|span)_/.test(field) && isEmpty(row[field]))
}

function isEmpty(value: unknown): boolean {
  return value == null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0)
}

/** Finds a field by its dotted path. @throws 400 for what is not a field. */
export function feedbackField(path: string, params: Params): FieldExpression {
  const { column, steps } = placeOf(path)
  const kind = COLUMNS[column]
  switch (kind) {
    case 'json':
      return { sql: jsonLeaf(readableJson(column), steps, params), kind }
    case 'texts':
      if (steps.length === 0) return { sql: column, kind: 'text', many: true }
      return { sql: jsonLeaf(`toJSONString(${column})`, steps, params), kind: 'json' }
    case 'map':
      return { sql: jsonLeaf(`toJSONString(${column})`, steps, params), kind: 'json' }
    default:
      return { sql: column, kind }
  }
}

/** The column that holds a field. @throws 400 for what is not a field. */
export function columnOf(path: string): Column {
  return placeOf(path).column
}

/**
 * Reads fields of stored rows: their texts, in the order of the paths. However many fields lead into a value, it is
 * walked once.
 * @throws 400 for what is not a field.
 */
export function fieldsReader(
  paths: readonly string[],
): (row: StoredFeedback) => readonly (string | undefined)[] {
  const columns = new Map<Column, Branch>()
  for (const [index, path] of paths.entries()) {
    const { column, steps } = placeOf(path)
    const branch = columns.get(column) ?? newBranch()
    columns.set(column, branch)
    leafOf(branch, steps).fields.push(index)
  }
  return (row) => {
    const texts: (string | undefined)[] = []
    for (const [column, branch] of columns) {
      const stored = row[column]
      const text = typeof stored === 'string' && column === 'payload' ? stored : JSON.stringify(stored)
      if (text !== undefined) readInto(texts, text, branch)
    }
    return texts
  }
}

/** The fields that lead to a place in a column, by their index, and those that lead further. */
interface Branch {
  fields: number[]
  steps: Map<string, Branch>
  /**
   * By names of members and positions of elements: a step of digits may be either, and several may mean one position.
   */
  parts: Map<string | number, Branch[]>
}

function newBranch(): Branch {
  return { fields: [], steps: new Map(), parts: new Map() }
}

function leafOf(root: Branch, steps: readonly string[]): Branch {
  let branch = root
  for (const step of steps) {
    const next = branch.steps.get(step) ?? newBranch()
    if (!branch.steps.has(step)) {
      branch.steps.set(step, next)
      for (const key of /^\d+$/.test(step) ? [step, Number(step)] : [step])
        branch.parts.set(key, [...(branch.parts.get(key) ?? []), next])
    }
    branch = next
  }
  return branch
}

function readInto(texts: (string | undefined)[], text: string, { fields, parts }: Branch): void {
  if (text === 'null') return
  for (const field of fields) texts[field] = text
  if (parts.size === 0) return
  for (const [key, part] of partTexts(text, parts))
    for (const branch of parts.get(key) ?? []) readInto(texts, part, branch)
}

function isColumn(name: string): name is Column {
  return Object.hasOwn(COLUMNS, name)
}

/** The column of a field, and the path below it. */
function placeOf(path: string): { column: Column; steps: string[] } {
  const name = path.split('.', 1)[0] ?? ''
  const isWellFormed = !/(^|[^\\])\.(\.|$)/.test(path)
  if (!isColumn(name) || !isWellFormed || (path !== name && !hasPaths(name)))
    throw invalidRequest(`Unknown field: ${path.slice(0, 200)}`)
  return { column: name, steps: path === name ? [] : splitPath(path).slice(1) }
}

function hasPaths(column: Column): boolean {
  const kind: ColumnKind = COLUMNS[column]
  return kind === 'json' || kind === 'texts' || kind === 'map'
}
