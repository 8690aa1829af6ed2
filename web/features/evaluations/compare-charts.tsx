import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { askResults, type ResultsRequest } from '../../api/evaluations.ts'
import { type ProjectName, projectId } from '../../api/project.ts'
import { LIVE_MS } from '../../api/query-client.ts'
import { BoxStrip } from '../../components/box-strip.tsx'
import { formatCount } from '../../components/format.ts'
import { ScatterPlot } from '../../components/scatter-plot.tsx'
import { Select } from '../../components/select.tsx'
import { rangeOf, spreadOf } from '../../components/spread.ts'
import { EmptyState, ErrorState, Skeleton } from '../../components/states.tsx'
import {
  type Axis,
  axesOf,
  chosenAxes,
  formatOf,
  type Measure,
  measuresOf,
  nameOf,
  rowValue,
  tally,
} from './axes.ts'
import type { Metric } from './metrics.ts'
import { resultsRequest, WITH_INPUTS } from './results-request.ts'
import { type CompareRow, compareRow } from './results-row.ts'
import { letterOf, RunLetter, runColor } from './run-letter.tsx'
import type { ChangeCompare, CompareSearch } from './search.ts'

/** Rows that are drawn: more dots than these hide each other. */
const ROWS_MAX = 500

/** Rows of one request: each has the outputs of up to eight runs. */
const PAGE_ROWS = 100

interface CompareChartsProps {
  name: ProjectName
  metrics: readonly Metric[]
  runs: readonly string[]
  /** One of the runs has not ended. */
  isRunning: boolean
  search: CompareSearch
  change: ChangeCompare
}

/** How the scores of each run lie, and row by row how one number goes with another. */
export function CompareCharts({ name, metrics, runs, isRunning, search, change }: CompareChartsProps) {
  const project = projectId(name)
  const request = resultsRequest(runs, search, metrics)
  const { data, error, refetch } = useQuery({
    queryKey: ['calls', project, 'chart rows', request, isRunning],
    placeholderData: keepPreviousData,
    // A dot is opened by its place, which it keeps while a person reads its row.
    refetchInterval: isRunning && search.open < 0 ? LIVE_MS : false,
    queryFn: ({ signal }) => firstRows(project, request, signal),
  })
  if (error !== null && data === undefined)
    return <ErrorState title="The rows could not be loaded" error={error} onRetry={() => void refetch()} />
  if (data === undefined) return <Skeleton className="m-4 h-64" />
  const { rows, total } = data
  if (rows.length === 0)
    return (
      <EmptyState title="No rows yet">
        <p>The charts begin with the first row that is scored.</p>
      </EmptyState>
    )
  return (
    <div className="flex flex-col gap-3 p-4 max-md:p-3">
      {rows.length < total && (
        <p className="text-xs text-warn">
          The first {formatCount(rows.length)} of {formatCount(total)} rows, in the order of the list, are
          drawn.
        </p>
      )}
      <div className="grid grid-cols-2 gap-x-8 gap-y-6 max-lg:grid-cols-1">
        <section aria-label="Distributions" className="flex min-w-0 flex-col gap-4">
          <h2 className="text-sm font-strong text-strong">How the rows lie</h2>
          {measuresOf(metrics).map((measure) => (
            <Distribution key={nameOf(measure)} measure={measure} rows={rows} runs={runs} />
          ))}
        </section>
        <RowsAgainst axes={axesOf(runs, metrics)} rows={rows} search={search} change={change} />
      </div>
    </div>
  )
}

async function firstRows(project: string, request: ResultsRequest, signal: AbortSignal) {
  const rows: CompareRow[] = []
  for (;;) {
    const range = { limit: PAGE_ROWS, offset: rows.length }
    const reply = await askResults(project, { ...request, ...WITH_INPUTS, ...range }, signal)
    rows.push(...reply.rows.map(compareRow))
    const isEnd = reply.rows.length === 0 || rows.length >= reply.total_rows
    if (isEnd || rows.length >= ROWS_MAX) return { rows, total: reply.total_rows }
  }
}

interface DistributionProps {
  measure: Measure
  rows: readonly CompareRow[]
  runs: readonly string[]
}

/** One number, run below run on one scale. */
function Distribution({ measure, rows, runs }: DistributionProps) {
  const format = formatOf(measure)
  const values = runs.map((run) => rows.flatMap((row) => rowValue(row, { run, measure }) ?? []))
  const all = values.flat()
  if (all.length === 0) return null
  const range = rangeOf(all)
  const isYesOrNo = all.every((value) => value === 0 || value === 1)
  return (
    <figure aria-label={nameOf(measure)} className="flex min-w-0 flex-col">
      <figcaption className="text-xs text-normal">{nameOf(measure)}</figcaption>
      {runs.map((run, index) => (
        <div key={run} className="flex items-center gap-2">
          <RunLetter index={index} />
          <div className="min-w-0 flex-1">
            {isYesOrNo ? (
              <YesOrNo values={values[index] ?? []} index={index} />
            ) : (
              <BoxStrip
                values={values[index] ?? []}
                range={range}
                color={runColor(index)}
                label={spreadText(letterOf(index), values[index] ?? [], format)}
              />
            )}
          </div>
        </div>
      ))}
      {!isYesOrNo && (
        <p className="tabular flex justify-between ps-6 text-2xs text-muted">
          <span>{format(range[0])}</span>
          <span>{format(range[1])}</span>
        </p>
      )}
    </figure>
  )
}

function spreadText(letter: string, values: readonly number[], format: (value: number) => string): string {
  const spread = spreadOf(values)
  if (spread === undefined) return `${letter}: no values`
  const { min, q1, median, q3, max } = spread
  return `${letter}: ${formatCount(values.length)} values from ${format(min)} to ${format(max)}, median ${format(median)}, the middle half from ${format(q1)} to ${format(q3)}`
}

/** Of what is either so or not, how many are. */
function YesOrNo({ values, index }: { values: readonly number[]; index: number }) {
  const yes = values.filter((value) => value === 1).length
  const text = `${formatCount(yes)} of ${formatCount(values.length)}`
  return (
    <div className="flex h-7 items-center gap-2">
      <span
        role="img"
        aria-label={`${letterOf(index)}: ${text}`}
        className="block h-3 flex-1 overflow-hidden rounded-sm bg-inset"
      >
        <span
          className="block h-full"
          style={{
            width: `${(yes / (values.length || 1)) * 100}%`,
            background: runColor(index),
            opacity: 0.7,
          }}
        />
      </span>
      <span className="tabular w-20 text-end text-xs text-muted">{text}</span>
    </div>
  )
}

interface RowsAgainstProps {
  axes: readonly Axis[]
  rows: readonly CompareRow[]
  search: CompareSearch
  change: ChangeCompare
}

/** Each row as a dot between two numbers; one opens it. */
function RowsAgainst({ axes, rows, search, change }: RowsAgainstProps) {
  const chosen = chosenAxes(axes, search)
  const points = useMemo(
    () =>
      chosen === undefined
        ? []
        : rows.flatMap((row, index) => {
            const [x, y] = chosen.map((axis) => rowValue(row, axis))
            return x === undefined || y === undefined ? [] : { id: String(index), x, y }
          }),
    [rows, chosen],
  )
  if (chosen === undefined) return null
  const [x, y] = chosen
  const options = axes.map(({ key }) => ({ value: key, label: key }))
  const isSame = x.measure === y.measure
  const [formatX, formatY] = [formatOf(x.measure), formatOf(y.measure)]
  const captionOf = (id: string) => {
    const point = points.find((candidate) => candidate.id === id)
    const row = rows[Number(id)]
    return `${x.key} ${formatX(point?.x ?? Number.NaN)}, ${y.key} ${formatY(point?.y ?? Number.NaN)}: ${row?.input ?? ''}`
  }
  return (
    <section aria-label="Rows against each other" className="flex min-w-0 flex-col gap-2">
      <h2 className="text-sm font-strong text-strong">Row by row</h2>
      <div className="flex flex-wrap items-center gap-2">
        <Select label="Across" value={x.key} options={options} onChange={(key) => change({ x: key })} />
        <span className="text-muted">and</span>
        <Select label="Upwards" value={y.key} options={options} onChange={(key) => change({ y: key })} />
      </div>
      <ScatterPlot
        points={points}
        label={
          isSame ? tallyText(points, x, y) : `${formatCount(points.length)} rows by ${x.key} and ${y.key}`
        }
        xTitle={x.key}
        yTitle={y.key}
        formatX={formatX}
        formatY={formatY}
        axes={isSame ? 'same' : 'own'}
        captionOf={captionOf}
        onPick={(id) => change({ open: Number(id) })}
      />
    </section>
  )
}

function tallyText(points: readonly { x: number; y: number }[], x: Axis, y: Axis): string {
  const { better, worse, same } = tally(points, x.measure)
  return `${y.key} is better than ${x.key} in ${formatCount(better)} rows, worse in ${formatCount(worse)}, the same in ${formatCount(same)}`
}
