import { MessageSquareText } from 'lucide-react'
import type { TableColumn } from '../../components/data-table/column.ts'
import { formatCost, formatCount, formatDuration } from '../../components/format.ts'
import { TextOrRef } from '../../components/ref-link.tsx'
import { recall, remember } from '../../components/remembered.ts'
import { Badge, Status } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'
import type { CallRow } from './call-row.ts'

type Column = TableColumn<CallRow> & {
  /** What the API sorts by; undefined for what has no order there. */
  sortField?: string
  /** The text of a cell in an export. */
  text: (row: CallRow) => string
}

const number = (value: number | null) => (value === null ? '' : String(value))

/** The columns that every call has, by id. */
const KNOWN: readonly Column[] = [
  {
    id: 'op',
    title: 'Call',
    width: 180,
    isName: true,
    sortField: 'summary.weave.trace_name',
    text: (row) => row.name,
    cell: (row) => (
      <span className="flex items-center gap-2">
        <Status kind={row.status} word={row.statusWord} show="dot" />
        <span className="truncate text-strong">{row.name}</span>
      </span>
    ),
  },
  {
    id: 'started_at',
    title: 'Started',
    width: 104,
    sortField: 'started_at',
    text: (row) => row.startedAt,
    cell: (row) => (
      <span className="text-muted">
        <Time iso={row.startedAt} />
      </span>
    ),
  },
  {
    id: 'inputs',
    title: 'Input',
    width: 200,
    grows: true,
    wraps: true,
    text: (row) => row.inputs,
    cell: (row) => row.inputs,
  },
  {
    id: 'output',
    title: 'Output',
    width: 200,
    grows: true,
    wraps: true,
    text: (row) => row.output,
    cell: (row) => (row.exception ? <span className="text-error">{row.output}</span> : row.output),
  },
  {
    id: 'latency_ms',
    title: 'Latency',
    width: 84,
    align: 'end',
    sortField: 'summary.weave.latency_ms',
    text: (row) => number(row.latencyMs),
    cell: (row) => formatDuration(row.latencyMs),
  },
  {
    id: 'tokens',
    title: 'Tokens',
    width: 72,
    align: 'end',
    text: (row) => number(row.tokens),
    cell: (row) => formatCount(row.tokens),
  },
  {
    id: 'cost',
    title: 'Cost',
    width: 96,
    align: 'end',
    text: (row) => number(row.cost),
    cell: (row) => formatCost(row.cost),
  },
  {
    id: 'feedback',
    title: 'Feedback',
    width: 92,
    text: feedbackText,
    cell: (row) => <FeedbackCell row={row} />,
  },
  { id: 'model', title: 'Model', width: 140, text: (row) => row.models, cell: (row) => row.models },
  {
    id: 'status',
    title: 'Status',
    width: 96,
    sortField: 'summary.weave.status',
    text: (row) => row.statusWord,
    cell: (row) => <Status kind={row.status} word={row.statusWord} />,
  },
  {
    id: 'user',
    title: 'User',
    width: 96,
    sortField: 'wb_user_id',
    text: (row) => row.user ?? '',
    cell: (row) => row.user,
  },
  {
    id: 'thread_id',
    title: 'Thread',
    width: 140,
    sortField: 'thread_id',
    text: (row) => row.thread ?? '',
    cell: (row) => row.thread,
  },
  {
    id: 'tags',
    title: 'Tags',
    width: 120,
    text: (row) => row.tags,
    cell: (row) => (row.tags === '' ? null : <Badge>{row.tags}</Badge>),
  },
  {
    id: 'id',
    title: 'Id',
    width: 280,
    sortField: 'id',
    text: (row) => row.id,
    cell: (row) => <span className="font-mono text-xs">{row.id}</span>,
  },
]

export const KNOWN_COLUMNS = KNOWN.map(({ id, title }) => ({ id, title }))

const SHOWN_AT_FIRST = [
  'op',
  'started_at',
  'inputs',
  'output',
  'latency_ms',
  'tokens',
  'cost',
  'feedback',
  'model',
]

/** A column by its id, which for all others is a path within a call. */
export function columnOf(id: string): Column {
  const known = KNOWN.find((column) => column.id === id)
  if (known !== undefined) return { ...known, isSortable: known.sortField !== undefined }
  return {
    id,
    title: id.replace(/^(inputs|output|attributes|summary)\./, ''),
    width: 160,
    wraps: true,
    isSortable: true,
    sortField: id,
    text: (row) => row.cells[id] ?? '',
    cell: (row) => <TextOrRef text={row.cells[id]} />,
  }
}

/** The columns of a table, in order; a path is titled by all of it where another column has the same title. */
export function columnsOf(ids: readonly string[]): Column[] {
  const columns = ids.map(columnOf)
  const titled = Map.groupBy(columns, ({ title }) => title)
  const isPath = new Set(pathsOf(ids))
  return columns.map((column) => {
    const isRepeated = (titled.get(column.title)?.length ?? 0) > 1
    return isRepeated && isPath.has(column.id) ? { ...column, title: column.id } : column
  })
}

/** The paths among the ids of columns. */
export function pathsOf(ids: readonly string[]): string[] {
  return ids.filter((id) => !KNOWN.some((column) => column.id === id))
}

/** What must be requested so that these columns can be shown. */
export function neededFor(ids: readonly string[]) {
  const payloads: Record<string, string[]> = { inputs: ['inputs'], output: ['output'], tags: ['attributes'] }
  const needed = ids.flatMap((id) => payloads[id] ?? [id.split('.')[0] ?? id])
  const columns = ['summary', ...needed.filter((root) => ['inputs', 'output', 'attributes'].includes(root))]
  return {
    columns: [...new Set(columns)],
    include_costs: ids.includes('cost'),
    include_feedback: ids.includes('feedback'),
  }
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string')

export function rememberedColumns(project: string): string[] {
  return recall(`columns.${project}`, isTexts) ?? SHOWN_AT_FIRST
}

export function rememberColumns(project: string, ids: readonly string[]): void {
  remember(`columns.${project}`, ids)
}

function feedbackText({ feedback }: CallRow): string {
  const { emoji, notes, scores } = feedback
  return [...emoji, notes > 0 && `${notes} notes`, scores > 0 && `${scores} scores`].filter(Boolean).join(' ')
}

function FeedbackCell({ row }: { row: CallRow }) {
  const { emoji, notes, scores } = row.feedback
  return (
    <span className="inline-flex items-center gap-1.5 text-xs text-muted">
      {emoji.length > 0 && <span>{emoji.slice(0, 3).join('')}</span>}
      {notes > 0 && (
        <span className="inline-flex items-center gap-0.5" title={`${notes} notes`}>
          <MessageSquareText size={12} aria-label="notes" />
          {notes}
        </span>
      )}
      {scores > 0 && <Badge>{scores === 1 ? '1 score' : `${scores} scores`}</Badge>}
    </span>
  )
}
