import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { Call } from '../../api/calls.ts'
import { askResults, cancelEvaluation, type ResultsSummary, readEvaluations } from '../../api/evaluations.ts'
import { type Directions, directionsQuery } from '../../api/metric-directions.ts'
import { type ProjectName, projectId } from '../../api/project.ts'
import { LIVE_MS } from '../../api/query-client.ts'
import { useReadOnly } from '../../api/read-only.ts'
import { nameOfRef } from '../../api/weave-ref.ts'
import { Button } from '../../components/button.tsx'
import { Page } from '../../components/page.tsx'
import { Select } from '../../components/select.tsx'
import { EmptyState, ErrorState, Skeleton, StaleBanner } from '../../components/states.tsx'
import { Tabs } from '../../components/tabs.tsx'
import { notify } from '../../components/toast.ts'
import { CompareCharts } from './compare-charts.tsx'
import { CompareRows } from './compare-rows.tsx'
import { type ClientSummaries, CompareSummary } from './compare-summary.tsx'
import { type Metric, metricsIn, metricsOf } from './metrics.ts'
import { ResultPeek } from './result-peek.tsx'
import { resultsRequest } from './results-request.ts'
import { AS_STORED, type ChangeCompare, type CompareSearch, RUNS_MAX } from './search.ts'

const route = getRouteApi('/$entity/$project/compare')

const UNDECIDED: Directions = new Map()

/** One evaluation with its rows, or several side by side; the first is the baseline. */
export function ComparePage() {
  const name = route.useParams()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const project = projectId(name)
  const runs = search.runs.slice(0, RUNS_MAX)
  const change: ChangeCompare = (changed, how = 'push') =>
    void navigate({ search: (old) => ({ ...old, ...changed }), replace: how === 'replace' })
  const { calls, isRunning, data, error, refetch } = useComparison(project, runs, search)
  const missing = calls === undefined ? [] : runs.filter((run) => calls.every(({ id }) => id !== run))
  const { data: directions = UNDECIDED, isPending } = useQuery(directionsQuery(project))
  const metrics = useMemo(
    () => (data == null || isPending ? undefined : metricsOf(data, directions)),
    [data, directions, isPending],
  )
  if (runs.length === 0)
    return (
      <Page title="Compare evaluations">
        <EmptyState
          title="No evaluation is chosen"
          actions={
            <Button onClick={() => void navigate({ to: '/$entity/$project/evaluations', params: name })}>
              Choose evaluations
            </Button>
          }
        />
      </Page>
    )
  if (missing.length === runs.length)
    return (
      <Page title="Compare evaluations">
        <EmptyState
          title={runs.length === 1 ? 'There is no such evaluation' : 'There are no such evaluations'}
        >
          <p className="wrap-anywhere">
            Not found in this project: {missing.join(', ')}. They may have been deleted, or not have arrived
            yet.
          </p>
        </EmptyState>
      </Page>
    )
  const [first] = data?.evaluations ?? []
  const title =
    runs.length > 1 ? `${runs.length} evaluations` : (first?.display_name ?? nameOfRef(first?.evaluation_ref))
  return (
    <Page
      title={title || 'Evaluation'}
      actions={runs.length === 1 && isRunning && <Cancel project={project} id={runs[0] ?? ''} />}
      toolbar={
        <>
          <RowOrder search={search} isCompared={runs.length > 1} change={change} />
          {runs.length > 1 && (
            <Button
              size="small"
              aria-pressed={search.shared}
              look={search.shared ? 'primary' : 'plain'}
              onClick={() => change({ shared: !search.shared })}
            >
              Only rows that all have
            </Button>
          )}
        </>
      }
    >
      {error !== null && data != null && <StaleBanner error={error} onRetry={() => void refetch()} />}
      <LeftOut asked={search.runs.length} missing={missing} />
      {error !== null && data == null ? (
        <ErrorState title="The results could not be loaded" error={error} onRetry={() => void refetch()} />
      ) : (
        <Results
          name={name}
          summary={data ?? undefined}
          metrics={metrics}
          said={clientSummaries(calls)}
          runs={runs}
          isRunning={isRunning}
          search={search}
          change={change}
        />
      )}
    </Page>
  )
}

/** The calls that the runs are, and what their trials come to. */
function useComparison(project: string, runs: readonly string[], { shared }: CompareSearch) {
  const { data: calls } = useQuery<Call[]>({
    queryKey: ['calls', project, 'compared', runs],
    enabled: runs.length > 0,
    refetchInterval: ({ state }) => (isAnyRunning(state.data) ? LIVE_MS : false),
    queryFn: ({ signal }) => readEvaluations(project, runs, signal),
  })
  const isRunning = isAnyRunning(calls)
  const { data, error, refetch } = useQuery({
    // All is read once more when the runs have ended.
    queryKey: ['calls', project, 'results', runs, shared, isRunning],
    enabled: runs.length > 0,
    placeholderData: keepPreviousData,
    refetchInterval: isRunning ? LIVE_MS : false,
    queryFn: async ({ signal }) => {
      const request = {
        evaluation_call_ids: runs,
        include_rows: false,
        include_summary: true,
        include_errors: true,
        include_paired: runs.length > 1,
      }
      const only = { summary_require_intersection: shared, require_intersection: shared }
      return (await askResults(project, { ...request, ...only }, signal)).summary
    },
  })
  return { calls, isRunning, data, error, refetch }
}

/** Which of the asked runs are not shown. */
function LeftOut({ asked, missing }: { asked: number; missing: readonly string[] }) {
  return (
    <>
      {asked > RUNS_MAX && (
        <p role="note" className="px-4 py-1 text-xs text-warn">
          {RUNS_MAX} of {asked} evaluations are shown: more cannot be compared at once.
        </p>
      )}
      {missing.length > 0 && (
        <p role="note" className="px-4 py-1 text-xs text-warn wrap-anywhere">
          Not found in this project: {missing.join(', ')}
        </p>
      )}
    </>
  )
}

interface RowOrderProps {
  search: CompareSearch
  isCompared: boolean
  change: ChangeCompare
}

/** In which order the rows stand; that of one metric is chosen in the summary or in the head of its column. */
function RowOrder({ search, isCompared, change }: RowOrderProps) {
  const { sort } = search
  const options = [
    { value: '', label: isCompared ? 'Regressions first' : 'Failures first' },
    { value: AS_STORED, label: 'As stored' },
  ]
  if (sort !== '' && sort !== AS_STORED) options.push({ value: sort, label: orderText(sort) })
  return (
    <Select
      label="Order of the rows"
      value={sort}
      options={options}
      onChange={(next) => change({ sort: next })}
    />
  )
}

function orderText(sort: string): string {
  if (sort.startsWith('~')) return `Worse in ${sort.slice(1)} first`
  if (sort.startsWith('+')) return `Better in ${sort.slice(1)} first`
  return sort.startsWith('-') ? `Highest ${sort.slice(1)} first` : `Lowest ${sort} first`
}

function isAnyRunning(calls: readonly Call[] | undefined): boolean {
  return calls?.some(({ ended_at }) => ended_at === null) ?? false
}

/** The clients' own summaries of the runs, metric by metric. */
function clientSummaries(calls: readonly Call[] | undefined): ClientSummaries {
  return new Map(calls?.map(({ id, output }) => [id, metricsIn(output)]))
}

interface ResultsProps {
  name: ProjectName
  summary: ResultsSummary | undefined
  /** Undefined until the directions of the metrics are known. */
  metrics: readonly Metric[] | undefined
  said: ClientSummaries
  runs: readonly string[]
  isRunning: boolean
  search: CompareSearch
  change: ChangeCompare
}

/** Summaries of the runs, and their rows in a list or in charts. */
function Results({ name, summary, metrics, said, runs, isRunning, search, change }: ResultsProps) {
  const shown = { name, runs, isRunning, search, change }
  return (
    <>
      {summary === undefined || metrics === undefined ? (
        <div className="p-4">
          <Skeleton className="h-40 w-full max-w-3xl" />
        </div>
      ) : (
        <CompareSummary
          name={name}
          summary={summary}
          metrics={metrics}
          said={said}
          runs={runs}
          search={search}
          change={change}
        />
      )}
      <Tabs
        label="How the rows are shown"
        className="flex-1"
        value={search.view}
        onChange={(view) => change({ view })}
        tabs={[
          {
            value: 'rows',
            label: 'Rows',
            content: (
              <div className="flex h-full flex-col">
                <CompareRows {...shown} metrics={metrics} />
              </div>
            ),
          },
          {
            value: 'charts',
            label: 'Charts',
            content: metrics === undefined ? null : <CompareCharts {...shown} metrics={metrics} />,
          },
        ]}
      />
      {search.open >= 0 && metrics !== undefined && (
        <ResultPeek
          name={name}
          runs={runs}
          isRunning={isRunning}
          index={search.open}
          request={resultsRequest(runs, search, metrics)}
          onClose={() => change({ open: -1 })}
          {...(search.view === 'charts' && {
            onMove: (by: -1 | 1) => change({ open: Math.max(0, search.open + by) }, 'replace'),
          })}
        />
      )}
    </>
  )
}

interface CancelProps {
  project: string
  id: string
}

/** Ends an evaluation; only those that the server runs can be ended here, and it says so of the others. */
function Cancel({ project, id }: CancelProps) {
  const queries = useQueryClient()
  const readOnly = useReadOnly(project)
  const cancel = useMutation({
    mutationFn: (asked: CancelProps) => cancelEvaluation(asked.project, asked.id),
    onSettled: (_data, _error, asked) => queries.invalidateQueries({ queryKey: ['calls', asked.project] }),
    onError: (error) => notify({ title: error.message }),
  })
  if (readOnly !== undefined) return <span className="text-xs text-muted">{readOnly}</span>
  return (
    <Button disabled={cancel.isPending} onClick={() => cancel.mutate({ project, id })}>
      Cancel
    </Button>
  )
}
