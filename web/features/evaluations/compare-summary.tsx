import { Link } from '@tanstack/react-router'
import { ArrowLeftToLine, X } from 'lucide-react'
import type { EvaluationResults, ResultsSummary } from '../../api/evaluations.ts'
import { type ProjectName, projectId } from '../../api/project.ts'
import { nameOfRef } from '../../api/weave-ref.ts'
import { ShareBar } from '../../components/bars.tsx'
import { IconButton } from '../../components/button.tsx'
import {
  formatCount,
  formatDelta,
  formatNumber,
  formatPoints,
  formatShare,
  MISSING,
} from '../../components/format.ts'
import { TextOrRef } from '../../components/ref-link.tsx'
import { MetricDirection } from './metric-direction.tsx'
import {
  clientDiffers,
  type Metric,
  type Pair,
  pairIn,
  type Score,
  scoreIn,
  titleOf,
  verdictOf,
} from './metrics.ts'
import { letterOf, RunLetter } from './run-letter.tsx'
import type { ChangeCompare, CompareSearch } from './search.ts'

/** The client's own summary of each run, by its id: numbers by metric. */
export type ClientSummaries = ReadonlyMap<string, ReadonlyMap<string, number>>

interface CompareSummaryProps {
  name: ProjectName
  summary: ResultsSummary
  metrics: readonly Metric[]
  said: ClientSummaries
  runs: readonly string[]
  search: CompareSearch
  change: ChangeCompare
}

/** What each run comes to, metric by metric, with the difference to the first. */
export function CompareSummary({ name, summary, metrics, said, runs, search, change }: CompareSummaryProps) {
  const byId = new Map(summary.evaluations.map((one) => [one.evaluation_call_id, one]))
  return (
    <section
      aria-label="Summary"
      className="thin-scroll relative max-h-[45%] shrink-0 overflow-auto border-b border-hair"
    >
      <table className="min-w-full border-separate border-spacing-0 text-sm">
        <thead>
          <tr>
            <th
              scope="col"
              className="sticky top-0 left-0 z-20 bg-bg px-4 py-2 text-start text-xs font-normal text-muted"
            >
              {formatCount(summary.row_count)} rows
            </th>
            {runs.map((run, index) => (
              <RunHead
                key={run}
                name={name}
                run={run}
                index={index}
                evaluation={byId.get(run)}
                {...(index > 0 && {
                  onBaseline: () => change({ runs: [run, ...runs.filter((one) => one !== run)] }),
                })}
                {...(runs.length > 1 && {
                  onRemove: () => change({ runs: runs.filter((one) => one !== run) }),
                })}
              />
            ))}
          </tr>
        </thead>
        <tbody>
          <CountRow
            title="Errors"
            hint="Trials of which the model or a scorer raised an exception: they count as failures"
            counts={runs.map((run) => byId.get(run)?.error_count ?? 0)}
          />
          <CountRow
            title="Missing rows"
            hint="Rows that another of these runs has and this one has not"
            counts={runs.map((run) => summary.row_count - (byId.get(run)?.row_count ?? 0))}
          />
          {metrics.map((metric) => (
            <tr key={metric.id} className="hover:bg-hover">
              <th
                scope="row"
                className="sticky left-0 z-10 border-t border-hair bg-bg px-4 py-1 text-start font-normal"
              >
                <span className="flex items-center gap-1">
                  <button
                    type="button"
                    className="flex items-center gap-1 text-normal hover:text-strong"
                    title={metric.field === undefined ? NOT_SORTABLE : `Sort the rows by ${metric.id}`}
                    disabled={metric.field === undefined}
                    onClick={() => change({ sort: nextSort(search.sort, metric.id, runs.length > 1) })}
                  >
                    <span className="text-strong">{metric.id === '' ? titleOf(metric) : metric.scorer}</span>
                    <span className="text-muted">{metric.path}</span>
                  </button>
                  <MetricDirection project={projectId(name)} metric={metric} />
                </span>
              </th>
              {runs.map((run) => (
                <td key={run} className="border-t border-hair px-4 py-1">
                  <MetricValue
                    metric={metric}
                    score={scoreIn(byId.get(run), metric)}
                    pair={pairIn(byId.get(run), metric)}
                    rowCount={summary.row_count}
                    said={said.get(run)?.get(metric.id)}
                  />
                </td>
              ))}
            </tr>
          ))}
          {metrics.length === 0 && (
            <tr>
              <td className="px-4 py-2 text-muted" colSpan={runs.length + 1}>
                No scorer has said anything yet
              </td>
            </tr>
          )}
        </tbody>
      </table>
    </section>
  )
}

const NOT_SORTABLE = 'Rows cannot be sorted by a scorer without a name'

/** How many of something each run has; nothing where none has any. */
function CountRow({ title, hint, counts }: { title: string; hint: string; counts: readonly number[] }) {
  if (counts.every((count) => count === 0)) return null
  return (
    <tr className="hover:bg-hover">
      <th
        scope="row"
        title={hint}
        className="sticky left-0 z-10 border-t border-hair bg-bg px-4 py-1 text-start font-normal text-muted"
      >
        {title}
      </th>
      {counts.map((count, index) => (
        <td
          // biome-ignore lint/suspicious/noArrayIndexKey: a run is its place
          key={index}
          className={`tabular border-t border-hair px-4 py-1 ${count === 0 ? 'text-muted' : 'text-error'}`}
        >
          {count.toLocaleString('en')}
        </td>
      ))}
    </tr>
  )
}

/**
 * Clicking goes from what got worse to what got better and back to the usual order; of one run, from the lowest to the
 * highest.
 */
export function nextSort(sort: string, metric: string, isCompared: boolean): string {
  const orders = isCompared ? [`~${metric}`, `+${metric}`, ''] : [metric, `-${metric}`, '']
  return orders[(orders.indexOf(sort) + 1) % orders.length] ?? ''
}

interface RunHeadProps {
  name: ProjectName
  run: string
  index: number
  evaluation: EvaluationResults | undefined
  onBaseline?: () => void
  onRemove?: () => void
}

function RunHead({ name, run, index, evaluation, onBaseline, onRemove }: RunHeadProps) {
  const title = evaluation?.display_name ?? nameOfRef(evaluation?.evaluation_ref) ?? run
  return (
    <th scope="col" className="sticky top-0 z-10 min-w-56 bg-bg px-4 py-1.5 text-start font-normal">
      <span className="flex items-center gap-1.5">
        <RunLetter index={index} />
        <Link
          to="/$entity/$project/calls/$id"
          params={{ ...name, id: run }}
          className="min-w-0 truncate leading-6 text-strong hover:underline"
          title={`${title}: open its trace`}
        >
          {title || run}
        </Link>
        {onBaseline !== undefined && (
          <IconButton
            size="small"
            label={`Make ${letterOf(index)} the baseline`}
            icon={<ArrowLeftToLine size={13} />}
            onClick={onBaseline}
          />
        )}
        {onRemove !== undefined && (
          <IconButton
            size="small"
            label={`Leave out ${letterOf(index)}`}
            icon={<X size={13} />}
            onClick={onRemove}
          />
        )}
      </span>
      <span className="block truncate text-xs leading-6 text-muted">
        <TextOrRef text={evaluation?.model_ref || MISSING} /> · {formatCount(evaluation?.trial_count)} trials
        {index === 0 && onRemove !== undefined && ' · baseline'}
      </span>
    </th>
  )
}

interface MetricValueProps {
  metric: Metric
  score: Score | undefined
  /** With the first run; undefined for that itself. */
  pair: Pair | undefined
  /** Of all runs together. */
  rowCount: number
  /** By the client's own summary. */
  said: number | undefined
}

const VERDICTS = {
  better: { className: 'text-better', mark: '▲' },
  worse: { className: 'text-worse', mark: '▼' },
  same: { className: 'text-muted', mark: '' },
}

/**
 * A value with its difference to the baseline over the rows that both have scored; grey where the difference is not
 * significant for so few rows.
 */
function MetricValue({ metric, score, pair, rowCount, said }: MetricValueProps) {
  const { isShare } = metric
  const format = isShare ? formatShare : formatNumber
  const differing = clientDiffers(score?.value, said)
  return (
    <span className="tabular flex flex-wrap items-center gap-x-2">
      {score === undefined ? (
        <span className="text-muted">{MISSING}</span>
      ) : (
        <>
          {isShare && <ShareBar share={score.value} label={`${metric.id}: ${formatShare(score.value)}`} />}
          <span className="text-strong">{format(score.value)}</span>
          <span className="text-2xs text-muted">{countedText(score, isShare)}</span>
          {pair !== undefined && <Delta metric={metric} pair={pair} rowCount={rowCount} />}
        </>
      )}
      {differing !== undefined && (
        <span className="text-2xs text-warn" title="The client's own summary of the run has another value">
          the client says {format(differing)}
        </span>
      )}
    </span>
  )
}

function Delta({ metric, pair, rowCount }: { metric: Metric; pair: Pair; rowCount: number }) {
  const verdict = verdictOf(metric, pair)
  const { className, mark } = VERDICTS[verdict]
  const format = metric.isShare ? formatPoints : formatNumber
  const shared = `${formatCount(pair.rows)} of ${formatCount(rowCount)} rows`
  return (
    <span className={className} title={`Over the ${shared} that this run and the baseline have scored`}>
      {mark}
      <span className="sr-only">{verdict}</span> {formatDelta(pair.value - pair.baseline, format)}
      {pair.rows < rowCount && <span className="text-2xs text-muted"> in {shared}</span>}
    </span>
  )
}

/** `42 of 50, 4 without a score`, or `of 46`. */
function countedText({ value, counted, unscored }: Score, isShare: boolean): string {
  const made = isShare ? `${Math.round(value * counted)} of ${counted}` : `of ${counted}`
  return unscored === 0 ? made : `${made}, ${unscored} without a score`
}
