import { useCallback, useMemo } from 'react'
import { askResults } from '../../api/evaluations.ts'
import { usePagedRows } from '../../api/paged-rows.ts'
import { type ProjectName, projectId } from '../../api/project.ts'
import { LIVE_MS } from '../../api/query-client.ts'
import type { Sort, TableColumn } from '../../components/data-table/column.ts'
import { DataTable } from '../../components/data-table/data-table.tsx'
import { formatDelta, formatDuration, formatNumber, MISSING } from '../../components/format.ts'
import { ErrorState } from '../../components/states.tsx'
import { type Metric, titleOf } from './metrics.ts'
import { resultsRequest, WITH_INPUTS } from './results-request.ts'
import { type CompareRow, compareRow, type RunCell, scoreOfRow } from './results-row.ts'
import { letterOf } from './run-letter.tsx'
import type { ChangeCompare, CompareSearch } from './search.ts'

/** Rows of one request: each has the outputs of up to eight runs. */
const PAGE_ROWS = 50
const SKELETON_ROWS = 20

const NONE: readonly Metric[] = []

interface CompareRowsProps {
  name: ProjectName
  /** Undefined until they are known: the order of the rows depends on them. */
  metrics: readonly Metric[] | undefined
  runs: readonly string[]
  /** One of the runs has not ended. */
  isRunning: boolean
  search: CompareSearch
  change: ChangeCompare
}

/** Each run's result for each row; sorted, the rows of interest come first. */
export function CompareRows({ name, metrics = NONE, runs, isRunning, search, change }: CompareRowsProps) {
  const project = projectId(name)
  const asked = resultsRequest(runs, search, metrics)
  // Rows keep their places while a person reads one.
  const refetchMs = isRunning && search.open < 0 ? LIVE_MS : false
  const rows = usePagedRows<CompareRow>({
    queryKey: ['calls', project, 'result rows', asked, isRunning],
    pageSize: PAGE_ROWS,
    countRefetchMs: refetchMs,
    refetchMs: () => refetchMs,
    isEnabled: metrics !== NONE,
    count: async ({ signal }) => (await askResults(project, { ...asked, limit: 1 }, signal)).total_rows,
    page: async (range, { signal }) =>
      (await askResults(project, { ...asked, ...WITH_INPUTS, ...range }, signal)).rows.map(compareRow),
  })
  const columns = useMemo(() => columnsOf(runs, metrics), [runs, metrics])
  const open = useCallback(
    (_row: CompareRow, index: number) => change({ open: index }, search.open < 0 ? 'push' : 'replace'),
    [change, search.open],
  )
  if (rows.error !== null && rows.isPending)
    return <ErrorState title="The rows could not be loaded" error={rows.error} onRetry={rows.retry} />
  return (
    <DataTable
      label="Rows"
      memory={`results.${runs.length}.${project}`}
      columns={columns}
      rowCount={rows.isPending ? SKELETON_ROWS : rows.rowCount}
      rowAt={rows.rowAt}
      rowId={(row) => row.digest}
      onRange={rows.onRange}
      onOpen={open}
      {...(search.open >= 0 && { onActive: open })}
      openId={rows.rowAt(search.open)?.digest}
      sort={sortOf(search)}
      onSort={({ column, direction }) => {
        const [, run = '0', metric = ''] = SCORE_COLUMN.exec(column) ?? []
        change({ sort: `${direction === 'desc' ? '-' : ''}${metric}`, of: Number(run) })
      }}
      question={JSON.stringify(asked)}
      isStale={rows.isStale}
      narrow={(row) => <NarrowRow row={row} runs={runs} metrics={metrics} />}
    />
  )
}

/** The column of a score: the place of its run, and its metric. */
const SCORE_COLUMN = /^score (\d+) (.*)$/s

function scoreColumn(run: number, metric: string): string {
  return `score ${run} ${metric}`
}

/** The column that the rows are sorted by; undefined for an order that no one column has. */
function sortOf({ sort, of }: CompareSearch): Sort | undefined {
  if (sort === '' || /^[~+=]/.test(sort)) return undefined
  const direction = sort.startsWith('-') ? 'desc' : 'asc'
  return { column: scoreColumn(of, sort.replace(/^-/, '')), direction }
}

function columnsOf(runs: readonly string[], metrics: readonly Metric[]): TableColumn<CompareRow>[] {
  const isCompared = runs.length > 1
  return [
    { id: 'input', title: 'Input', width: 240, grows: true, cell: (row) => row.input },
    ...runs.map((run, index) => ({
      id: `output ${run}`,
      title: isCompared ? `${letterOf(index)} output` : 'Output',
      width: 200,
      grows: true,
      cell: (row: CompareRow) => <Output cell={row.runs.get(run)} />,
    })),
    ...metrics.flatMap((metric) => scoreColumns(runs, metric)),
    ...(isCompared ? [] : [latencyColumn(runs[0] ?? '')]),
  ]
}

/** The score of the first run, and how far each other is from it. */
function scoreColumns(runs: readonly string[], metric: Metric): TableColumn<CompareRow>[] {
  const isCompared = runs.length > 1
  return runs.map((run, index) => ({
    id: scoreColumn(index, metric.id),
    title: isCompared ? `${letterOf(index)} ${titleOf(metric)}` : titleOf(metric),
    width: 120,
    align: 'end' as const,
    isSortable: metric.field !== undefined,
    cell: (row: CompareRow) => {
      const base = index === 0 ? undefined : scoreOfRow(row.runs.get(runs[0] ?? ''), metric)
      return <Score cell={row.runs.get(run)} base={base} metric={metric} />
    },
  }))
}

/** The model's output, or its error. */
function Output({ cell }: { cell: RunCell | undefined }) {
  if (cell === undefined) return <span className="text-muted">{MISSING}</span>
  if (cell.error === '') return cell.output
  return (
    <span className="text-error" title={cell.error}>
      {cell.error}
    </span>
  )
}

function Score({
  cell,
  base,
  metric,
}: {
  cell: RunCell | undefined
  base: number | undefined
  metric: Metric
}) {
  const value = scoreOfRow(cell, metric)
  if (value === undefined)
    return cell?.error ? (
      <span className="text-error">error</span>
    ) : (
      <span className="text-muted">{MISSING}</span>
    )
  const delta = base === undefined ? 0 : value - base
  const isBetter = delta > 0 !== metric.isLessBetter
  return (
    <span className="tabular">
      {formatNumber(value)}
      {delta !== 0 && (
        <span className={isBetter ? 'text-better' : 'text-worse'}>
          {' '}
          {isBetter ? '▲' : '▼'}
          {formatDelta(delta)}
        </span>
      )}
    </span>
  )
}

function latencyColumn(run: string): TableColumn<CompareRow> {
  return {
    id: 'latency',
    title: 'Latency',
    width: 84,
    align: 'end',
    cell: (row) => formatDuration(row.runs.get(run)?.latencyMs),
  }
}

/** Two lines of a row, on a phone: the input, and each run's first score. */
function NarrowRow({
  row,
  runs,
  metrics,
}: {
  row: CompareRow
  runs: readonly string[]
  metrics: readonly Metric[]
}) {
  const [metric] = metrics
  return (
    <span className="min-w-0 flex-1">
      <span className="block truncate text-strong">{row.input}</span>
      <span className="tabular flex gap-3 truncate text-xs text-muted">
        {runs.map((run, index) => (
          <span key={run}>
            {letterOf(index)} {formatNumber(metric && scoreOfRow(row.runs.get(run), metric))}
            {row.runs.get(run)?.error && <span className="text-error"> error</span>}
          </span>
        ))}
      </span>
    </span>
  )
}
