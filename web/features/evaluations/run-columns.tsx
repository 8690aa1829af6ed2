import type { EvaluationResults } from '../../api/evaluations.ts'
import { nameOfRef } from '../../api/weave-ref.ts'
import { ShareBar } from '../../components/bars.tsx'
import type { TableColumn } from '../../components/data-table/column.ts'
import { timeColumn } from '../../components/data-table/time-column.tsx'
import { formatCount, formatDuration, formatNumber, MISSING } from '../../components/format.ts'
import { TextOrRef } from '../../components/ref-link.tsx'
import { Skeleton } from '../../components/states.tsx'
import { Status } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'
import { clientDiffers, type Metric, metricsOf, type Score, scoreIn, titleOf } from './metrics.ts'
import { Progress } from './progress.tsx'
import type { RunRow } from './run-row.ts'
import type { Scores } from './use-scores.ts'

/** Metrics that have a column; the others are on the page of the evaluation. */
const METRICS_MAX = 12

type Listed = Pick<Metric, 'id' | 'isShare'>

/** The metrics that have a column, scorers' before those of clients, and how many others there are. */
export function listedMetrics(
  rows: readonly RunRow[],
  scores: Scores,
): { listed: readonly Listed[]; others: number } {
  const evaluations = [...scores.values()].filter((one) => one !== undefined)
  const scored = metricsOf({ evaluations }, NO_DIRECTIONS)
  const shares = new Map(scored.map(({ id, isShare }) => [id, isShare]))
  const said = new Set(rows.flatMap((row) => [...row.metrics.keys()]))
  // Summaries of clients arrive first, so that columns keep their places; their summary of the output is not a score.
  const isScore = (metric: string) => !metric.startsWith('output.')
  const ids = [...new Set([...said, ...shares.keys()])].sort(
    (a, b) => Number(isScore(b)) - Number(isScore(a)),
  )
  const listed = ids.slice(0, METRICS_MAX).map((id) => ({ id, isShare: shares.get(id) ?? false }))
  return { listed, others: ids.length - listed.length }
}

/** The columns of every evaluation, and one for each of the metrics. */
export function runColumns(
  project: string,
  metrics: readonly Listed[],
  scores: Scores,
): TableColumn<RunRow>[] {
  return [
    {
      id: 'name',
      title: 'Evaluation',
      width: 240,
      grows: true,
      isName: true,
      cell: (row) => (
        <span className="flex items-center gap-2">
          <Status kind={row.status} show="dot" />
          <span className="truncate text-strong">{row.name}</span>
          {row.status === 'running' && <Progress project={project} id={row.id} />}
        </span>
      ),
    },
    { id: 'model', title: 'Model', width: 160, cell: (row) => <TextOrRef text={row.model} /> },
    {
      id: 'trials',
      title: 'Trials',
      width: 64,
      align: 'end',
      cell: (row) => formatCount(scores.get(row.id)?.trial_count),
    },
    {
      id: 'errors',
      title: 'Errors',
      width: 64,
      align: 'end',
      cell: (row) => <Errors count={scores.get(row.id)?.error_count} />,
    },
    ...metrics.map((metric) => metricColumn(metric, scores)),
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

/** A table shows values, not which of them are better. */
const NO_DIRECTIONS = new Map<string, never>()

function Errors({ count }: { count: number | undefined }) {
  return <span className={count ? 'text-error' : 'text-muted'}>{formatCount(count)}</span>
}

function metricColumn(metric: Listed, scores: Scores): TableColumn<RunRow> {
  return {
    // A scorer may have any name, that of another column too, and none.
    id: `metric ${metric.id}`,
    title: titleOf(metric),
    width: 150,
    align: 'end',
    cell: (row) => <MetricCell row={row} metric={metric} scores={scores} />,
  }
}

interface MetricCellProps {
  row: RunRow
  metric: Listed
  scores: Scores
}

/** The result of the trials; where the client's own summary differs, that too. */
function MetricCell({ row, metric, scores }: MetricCellProps) {
  if (!scores.has(row.id)) return <Skeleton className="my-2 ms-auto h-3 w-16" />
  const score = scoreIn(scores.get(row.id), metric)
  const differing = clientDiffers(score?.value, row.metrics.get(metric.id))
  const value = score?.value
  return (
    <span
      className="flex items-center justify-end gap-2"
      title={score === undefined ? undefined : scoreText(score, metric)}
    >
      {differing !== undefined && (
        <span className="tabular truncate text-2xs text-warn" title="By the client's own summary">
          client {formatNumber(differing)}
        </span>
      )}
      {value !== undefined && differing === undefined && metric.isShare && (
        <ShareBar share={value} label={`${metric.id}: ${value}`} />
      )}
      {value === undefined ? (
        <span className="text-muted">{differing === undefined ? MISSING : ''}</span>
      ) : (
        <span className="tabular w-12 text-end">{formatNumber(value)}</span>
      )}
    </span>
  )
}

function scoreText({ value, counted, errors }: Score, { isShare }: Pick<Metric, 'isShare'>): string {
  const failed = errors === 0 ? '' : isShare ? `; ${errors} of them errors` : `; ${errors} errors`
  return `${value} over ${counted} trials${failed}`
}

/** Two lines of an evaluation, on a phone. */
export function NarrowRun({ row, results }: { row: RunRow; results: EvaluationResults | undefined }) {
  const [metric] = metricsOf({ evaluations: results === undefined ? [] : [results] }, NO_DIRECTIONS)
  const score = metric && scoreIn(results, metric)
  return (
    <span className="flex min-w-0 flex-1 items-center gap-3">
      <Status kind={row.status} show="dot" />
      <span className="min-w-0 flex-1">
        <span className="block truncate text-strong">{row.name}</span>
        <span className="block truncate text-xs text-muted">
          {nameOfRef(row.model)} · <Time iso={row.startedAt} />
        </span>
      </span>
      {metric !== undefined && score !== undefined && (
        <span className="text-end">
          <span className="tabular block text-strong">{formatNumber(score.value)}</span>
          <span className="block max-w-28 truncate text-xs text-muted">{titleOf(metric)}</span>
        </span>
      )}
    </span>
  )
}
