import { Link } from '@tanstack/react-router'
import { ArrowLeftToLine, X } from 'lucide-react'
import type { ResultsSummary, ScorerStats } from '../../api/evaluations.ts'
import type { ProjectName } from '../../api/project.ts'
import { ShareBar } from '../../components/bars.tsx'
import { IconButton } from '../../components/button.tsx'
import { formatCount, formatDelta, formatNumber, formatShare, MISSING } from '../../components/format.ts'
import { isLessBetter, type Metric, metricId, metricsOf, scoreOf, verdictOf } from './metrics.ts'
import { letterOf, RunLetter } from './run-letter.tsx'
import { nameOfRef } from './run-row.ts'
import type { ChangeCompare, CompareSearch } from './search.ts'

type Evaluation = ResultsSummary['evaluations'][number]

interface CompareSummaryProps {
  name: ProjectName
  summary: ResultsSummary
  runs: readonly string[]
  search: CompareSearch
  change: ChangeCompare
}

/** What each run comes to, metric by metric, with the difference to the first. */
export function CompareSummary({ name, summary, runs, search, change }: CompareSummaryProps) {
  const byId = new Map(summary.evaluations.map((one) => [one.evaluation_call_id, one]))
  const metrics = metricsOf(summary)
  const statsOf = (run: string, metric: Metric) =>
    byId.get(run)?.scorer_stats.find((stats) => metricId(stats) === metric.id)
  const [baseline = ''] = runs
  return (
    <section
      aria-label="Summary"
      className="thin-scroll max-h-[45%] shrink-0 overflow-auto border-b border-hair"
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
          {metrics.map((metric) => (
            <tr key={metric.id} className="hover:bg-hover">
              <th
                scope="row"
                className="sticky left-0 z-10 border-t border-hair bg-bg px-4 py-1 text-start font-normal"
              >
                <button
                  type="button"
                  className="flex items-center gap-1 text-normal hover:text-strong"
                  title={`Sort the rows by ${metric.id}${isLessBetter(metric.id) ? '; less is better' : ''}`}
                  onClick={() => change({ sort: nextSort(search.sort, metric.id, runs.length > 1) })}
                >
                  <span className="text-strong">{metric.scorer}</span>
                  <span className="text-muted">{metric.path}</span>
                </button>
              </th>
              {runs.map((run, index) => (
                <td key={run} className="border-t border-hair px-4 py-1">
                  <MetricValue
                    metric={metric}
                    stats={statsOf(run, metric)}
                    baseline={index === 0 ? undefined : statsOf(baseline, metric)}
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

/** Clicking goes from the largest differences, or the worst, to the best and back to no order. */
export function nextSort(sort: string, metric: string, isCompared: boolean): string {
  const orders = isCompared ? [`~${metric}`, metric, `-${metric}`, ''] : [metric, `-${metric}`, '']
  return orders[(orders.indexOf(sort) + 1) % orders.length] ?? ''
}

interface RunHeadProps {
  name: ProjectName
  run: string
  index: number
  evaluation: Evaluation | undefined
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
          className="min-w-0 truncate text-strong hover:underline"
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
      <span className="block truncate text-xs text-muted">
        {nameOfRef(evaluation?.model_ref) || MISSING} · {formatCount(evaluation?.trial_count)} trials
        {index === 0 && onRemove !== undefined && ' · baseline'}
      </span>
    </th>
  )
}

interface MetricValueProps {
  metric: Metric
  stats: ScorerStats | undefined
  /** Of the first run; undefined for that itself. */
  baseline: ScorerStats | undefined
}

const VERDICTS = {
  better: { className: 'text-better', mark: '▲' },
  worse: { className: 'text-worse', mark: '▼' },
  same: { className: 'text-muted', mark: '' },
}

/** A value with its difference to the baseline; grey where so few rows cannot tell them apart. */
export function MetricValue({ metric, stats, baseline }: MetricValueProps) {
  const value = scoreOf(stats)
  if (stats === undefined || value === null) return <span className="text-muted">{MISSING}</span>
  const isShare = stats.value_type === 'binary'
  const verdict = verdictOf(metric.id, stats, baseline)
  const base = scoreOf(baseline)
  const counted = isShare ? stats.pass_known_count : stats.numeric_count
  return (
    <span className="tabular flex items-center gap-2" title={`${value} over ${counted} trials`}>
      {isShare && <ShareBar share={value} label={`${metric.id}: ${formatShare(value)}`} />}
      <span className="text-strong">{isShare ? formatShare(value) : formatNumber(value)}</span>
      {verdict !== undefined && base !== null && (
        <span className={VERDICTS[verdict].className}>
          {VERDICTS[verdict].mark}
          <span className="sr-only">{verdict}</span>{' '}
          {formatDelta(value - base, isShare ? (delta) => formatShare(delta) : formatNumber)}
        </span>
      )}
    </span>
  )
}
