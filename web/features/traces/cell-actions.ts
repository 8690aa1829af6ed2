import { type CallField, readCall } from '../../api/calls.ts'
import { copyText } from '../../components/copy-button.tsx'
import type { MenuGroup } from '../../components/menu-popup.tsx'
import { messageOf } from '../../components/message-of.ts'
import { notify } from '../../components/toast.ts'
import { type CallRow, CELL_CHARS, rowOf, wholeText } from './call-row.ts'
import { columnOf, pathsOf } from './columns.tsx'
import { conditionText } from './conditions.ts'
import type { Comparison } from './search.ts'

/** Columns to add from one cell: more are better looked for in the column picker. */
const PATHS_MAX = 6

interface CellContext {
  project: string
  /** Fields within payloads, the most frequent first. */
  paths: readonly CallField[]
  /** Columns that are shown. */
  ids: readonly string[]
  onFilter: (condition: Comparison) => void
  onColumn: (path: string) => void
}

/** What can be done with a cell: keep or drop calls that are like it, make columns of what is in it, copy it. */
export function cellActions(row: CallRow, column: string, context: CellContext): MenuGroup[] {
  const { project, paths, ids, onFilter, onColumn } = context
  const text = columnOf(column).text(row)
  const conditions = conditionsOf(row, column, text)
  const inside = paths
    .filter(({ path }) => path.startsWith(`${ROOTS[column] ?? column}.`) && !ids.includes(path))
    .slice(0, PATHS_MAX)
  const groups: MenuGroup[] = [
    {
      label: 'Filter',
      entries: conditions.map((condition) => ({
        label: conditionText(condition),
        onSelect: () => onFilter(condition),
      })),
    },
    {
      entries: [
        { label: 'Copy', isDisabled: text === '', onSelect: () => void copyCell(project, row, column) },
      ],
    },
    // Last, because they are added when the server has answered.
    {
      label: 'Add column',
      entries: inside.map(({ path }) => ({ label: path, onSelect: () => onColumn(path) })),
    },
  ]
  return groups.filter(({ entries }) => entries.length > 0)
}

/** Copies all of a cell, of which the list may have only the beginning. */
async function copyCell(project: string, row: CallRow, column: string): Promise<void> {
  const { text } = columnOf(column)
  const paths = pathsOf([column])
  let whole = text(row)
  if (paths.length > 0 || SHORTENED.has(column)) {
    try {
      const call = await readCall(project, row.id)
      if (call !== null) whole = text(rowOf(call, paths, wholeText))
    } catch (error) {
      notify({ title: 'The cell could not be read', detail: messageOf(error) })
      return
    }
  }
  if (await copyText(whole)) notify({ title: 'Cell copied' })
}

/** Columns with the beginning of a payload. */
const SHORTENED = new Set(['inputs', 'output', 'tags'])

/** Columns that show a payload under another name. */
const ROOTS: Record<string, string> = { tags: 'attributes' }

/** Columns that show what a field has, and the field. */
const FIELD_OF: Record<string, string> = { op: 'op', user: 'user', thread_id: 'thread_id', id: 'id' }

/** First what keeps calls like this one, then what drops them. */
function conditionsOf(row: CallRow, column: string, text: string): Comparison[] {
  if (column === 'latency_ms') return row.latencyMs === null ? [] : around(column, row.latencyMs)
  if (column === 'status') return same('status', STATUS_OF[row.statusWord] ?? row.statusWord)
  if (column === 'output' && row.exception) return [...there('exception'), ...same('status', 'error')]
  const field = FIELD_OF[column]
  if (field !== undefined) return text === '' ? there(field) : same(field, text)
  return column.includes('.') ? ofPath(column, row.scalars[column]) : []
}

/** Objects, lists and null are only there or not. */
function ofPath(path: string, value: CallRow['scalars'][string] | undefined): Comparison[] {
  if (value == null || value === '') return there(path)
  const text = String(value)
  // Of a long text the row has only the beginning.
  if (text.length >= CELL_CHARS) return [{ field: path, op: 'contains', value: text }]
  return same(path, text)
}

/** The list's words for those of the API. */
const STATUS_OF: Record<string, string> = { 'error below': 'descendant_error' }

function same(field: string, value: string): Comparison[] {
  return [
    { field, op: 'is', value },
    { field, op: 'isnt', value },
  ]
}

function there(field: string): Comparison[] {
  return [
    { field, op: 'has', value: '' },
    { field, op: 'lacks', value: '' },
  ]
}

/** Wire: the server compares whole milliseconds. */
function around(field: string, value: number): Comparison[] {
  return [
    { field, op: 'gte', value: String(Math.floor(value)) },
    { field, op: 'lte', value: String(Math.ceil(value)) },
  ]
}
