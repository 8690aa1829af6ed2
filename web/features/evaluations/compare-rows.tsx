import { useCallback, useMemo } from 'react'
import { askResults, type ResultsSummary } from '../../api/evaluations.ts'
import { usePagedRows } from '../../api/paged-rows.ts'
import { type ProjectName, projectId } from '../../api/project.ts'
import type { TableColumn } from '../../components/data-table/column.ts'
import { DataTable } from '../../components/data-table/data-table.tsx'
import { formatDelta, formatDuration, formatNumber, MISSING } from '../../components/format.ts'
import { ErrorState } from '../../components/states.tsx'
import { isLessBetter, type Metric, metricsOf } from './metrics.ts'
import { resultsRequest, WITH_INPUTS } from './results-request.ts'
import { type CompareRow, compareRow } from './results-row.ts'
import { letterOf } from './run-letter.tsx'
import type { ChangeCompare, CompareSearch } from './search.ts'

/** Rows of one request: each has the outputs of up to eight runs. */
const PAGE_ROWS = 50
const SKELETON_ROWS = 20

interface CompareRowsProps {
  name: ProjectName
  summary: ResultsSummary | undefined
  runs: readonly string[]
  search: CompareSearch
  change: ChangeCompare
}

/** What each run made of each row; sorted, the rows of interest come first. */
export function CompareRows({ name, summary, runs, search, change }: CompareRowsProps) {
  const project = projectId(name)
  const asked = resultsRequest(runs, search)
  const rows = usePagedRows<CompareRow>({
    queryKey: ['calls', project, 'result rows', asked],
    pageSize: PAGE_ROWS,
    count: async ({ signal }) => (await askResults(project, { ...asked, limit: 1 }, signal)).total_rows,
    page: async (range, { signal }) =>
      (await askResults(project, { ...asked, ...WITH_INPUTS, ...range }, signal)).rows.map(compareRow),
  })
  const metrics = useMemo(() => (summary === undefined ? [] : metricsOf(summary)), [summary])
  const columns = useMemo(() => columnsOf(runs, metrics), [runs, metrics])
  const open = useCallback(
    (_row: CompareRow, index: number) => change({ open: index }, search.open < 0 ? 'push' : 'replace'),
    [change, search.open],
  )
  if (rows.error !== null && rows.isPending)
    return <ErrorState title="The rows could not be loaded" error={rows.error} onRetry={rows.retry} />
  const sorted = search.sort.replace(/^[-~]/, '')
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
      sort={{ column: `score ${sorted}`, direction: search.sort.startsWith('-') ? 'desc' : 'asc' }}
      onSort={({ column, direction }) =>
        change({ sort: `${direction === 'desc' ? '-' : ''}${column.replace(/^score /, '')}` })
      }
      question={JSON.stringify(asked)}
      isStale={rows.isStale}
      narrow={(row) => <NarrowRow row={row} runs={runs} metrics={metrics} />}
    />
  )
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
      cell: (row: CompareRow) => row.runs.get(run)?.output ?? <span className="text-muted">{MISSING}</span>,
    })),
    ...metrics.flatMap((metric) => scoreColumns(runs, metric)),
    ...(isCompared ? [] : [latencyColumn(runs[0] ?? '')]),
  ]
}

/** The score of the first run, and how far each other is from it. */
function scoreColumns(runs: readonly string[], metric: Metric): TableColumn<CompareRow>[] {
  const isCompared = runs.length > 1
  return runs.map((run, index) => ({
    id: index === 0 ? `score ${metric.id}` : `score ${metric.id} ${run}`,
    title: isCompared ? `${letterOf(index)} ${metric.id}` : metric.id,
    width: 120,
    align: 'end' as const,
    isSortable: index === 0,
    cell: (row: CompareRow) => {
      const value = row.runs.get(run)?.scores.get(metric.id)
      const base = index === 0 ? undefined : row.runs.get(runs[0] ?? '')?.scores.get(metric.id)
      return <Score value={value} base={base} metric={metric.id} />
    },
  }))
}

function Score({
  value,
  base,
  metric,
}: {
  value: number | undefined
  base: number | undefined
  metric: string
}) {
  if (value === undefined) return <span className="text-muted">{MISSING}</span>
  const delta = base === undefined ? 0 : value - base
  const isBetter = delta > 0 !== isLessBetter(metric)
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
            {letterOf(index)} {formatNumber(metric && row.runs.get(run)?.scores.get(metric.id))}
          </span>
        ))}
      </span>
    </span>
  )
}
