import { ShareBar } from '../../components/bars.tsx'
import type { TableColumn } from '../../components/data-table/column.ts'
import { timeColumn } from '../../components/data-table/time-column.tsx'
import { formatCount, formatDuration, formatNumber, MISSING } from '../../components/format.ts'
import { Status } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'
import { Progress } from './progress.tsx'
import type { RunRow } from './run-row.ts'

/** Metrics that have a column; the others are on the page of the evaluation. */
const METRICS_MAX = 12

/** The columns of every evaluation, and one for each metric that any of them has. */
export function runColumns(project: string, rows: readonly RunRow[]): TableColumn<RunRow>[] {
  const metrics = [...new Set(rows.flatMap((row) => [...row.metrics.keys()]))].slice(0, METRICS_MAX)
  return [
    {
      id: 'name',
      title: 'Evaluation',
      width: 240,
      grows: true,
      cell: (row) => (
        <span className="flex items-center gap-2">
          <Status kind={row.status} show="dot" />
          <span className="truncate text-strong">{row.name}</span>
          {row.status === 'running' && <Progress project={project} id={row.id} />}
        </span>
      ),
    },
    { id: 'model', title: 'Model', width: 160, cell: (row) => row.model },
    ...metrics.map((metric) => metricColumn(metric)),
    {
      id: 'latency',
      title: 'Latency',
      width: 84,
      align: 'end',
      cell: (row) => formatDuration(row.latencyMs),
    },
    { id: 'tokens', title: 'Tokens', width: 72, align: 'end', cell: (row) => formatCount(row.tokens) },
    timeColumn({ id: 'started_at', title: 'Started', at: (row) => row.startedAt }),
  ]
}

function metricColumn(metric: string): TableColumn<RunRow> {
  return {
    id: metric,
    title: metric,
    width: 150,
    align: 'end',
    cell: (row) => {
      const value = row.metrics.get(metric)
      if (value === undefined) return <span className="text-muted">{MISSING}</span>
      return (
        <span className="flex items-center justify-end gap-2">
          {value >= 0 && value <= 1 && <ShareBar share={value} label={`${metric}: ${value}`} />}
          <span className="tabular w-12 text-end">{formatNumber(value)}</span>
        </span>
      )
    },
  }
}

/** Two lines of an evaluation, on a phone. */
export function NarrowRun({ row }: { row: RunRow }) {
  const [first] = row.metrics
  return (
    <span className="flex min-w-0 flex-1 items-center gap-3">
      <Status kind={row.status} show="dot" />
      <span className="min-w-0 flex-1">
        <span className="block truncate text-strong">{row.name}</span>
        <span className="block truncate text-xs text-muted">
          {row.model} · <Time iso={row.startedAt} />
        </span>
      </span>
      {first !== undefined && (
        <span className="text-end">
          <span className="tabular block text-strong">{formatNumber(first[1])}</span>
          <span className="block max-w-28 truncate text-xs text-muted">{first[0]}</span>
        </span>
      )}
    </span>
  )
}
