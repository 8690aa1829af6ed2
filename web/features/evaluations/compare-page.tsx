import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { askResults, cancelEvaluation, isAnyRunning, type ResultsSummary } from '../../api/evaluations.ts'
import { type ProjectName, projectId } from '../../api/project.ts'
import { LIVE_MS } from '../../api/query-client.ts'
import { Button } from '../../components/button.tsx'
import { Page } from '../../components/page.tsx'
import { EmptyState, ErrorState, Skeleton, StaleBanner } from '../../components/states.tsx'
import { Tabs } from '../../components/tabs.tsx'
import { notify } from '../../components/toast.ts'
import { CompareCharts } from './compare-charts.tsx'
import { CompareRows } from './compare-rows.tsx'
import { CompareSummary } from './compare-summary.tsx'
import { ResultPeek } from './result-peek.tsx'
import { resultsRequest } from './results-request.ts'
import { nameOfRef } from './run-row.ts'
import { type ChangeCompare, type CompareSearch, RUNS_MAX } from './search.ts'

const route = getRouteApi('/$entity/$project/compare')

/** One evaluation with its rows, or several side by side; the first is what the others are measured by. */
export function ComparePage() {
  const name = route.useParams()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const project = projectId(name)
  const runs = search.runs.slice(0, RUNS_MAX)
  const change: ChangeCompare = (changed, how = 'push') =>
    void navigate({ search: (old) => ({ ...old, ...changed }), replace: how === 'replace' })
  const { data: isRunning = false } = useQuery({
    queryKey: ['calls', project, 'running', runs],
    enabled: runs.length > 0,
    refetchInterval: ({ state }) => (state.data === true ? LIVE_MS : false),
    queryFn: ({ signal }) => isAnyRunning(project, runs, signal),
  })
  const { data, error, refetch } = useQuery({
    queryKey: ['calls', project, 'results', runs, search.shared],
    enabled: runs.length > 0,
    placeholderData: keepPreviousData,
    refetchInterval: isRunning ? LIVE_MS : false,
    queryFn: async ({ signal }) => {
      const request = { evaluation_call_ids: runs, include_rows: false, include_summary: true }
      const only = { summary_require_intersection: search.shared, require_intersection: search.shared }
      return (await askResults(project, { ...request, ...only }, signal)).summary
    },
  })
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
  const [first] = data?.evaluations ?? []
  const title =
    runs.length > 1 ? `${runs.length} evaluations` : (first?.display_name ?? nameOfRef(first?.evaluation_ref))
  return (
    <Page
      title={title || 'Evaluation'}
      actions={runs.length === 1 && isRunning === true && <Cancel project={project} id={runs[0] ?? ''} />}
      {...(runs.length > 1 && {
        toolbar: (
          <Button
            size="small"
            aria-pressed={search.shared}
            look={search.shared ? 'primary' : 'plain'}
            onClick={() => change({ shared: !search.shared })}
          >
            Only rows that all have
          </Button>
        ),
      })}
    >
      {error !== null && data != null && <StaleBanner error={error} onRetry={() => void refetch()} />}
      {error !== null && data == null ? (
        <ErrorState title="The results could not be loaded" error={error} onRetry={() => void refetch()} />
      ) : (
        <Results name={name} summary={data ?? undefined} runs={runs} search={search} change={change} />
      )}
    </Page>
  )
}

interface ResultsProps {
  name: ProjectName
  summary: ResultsSummary | undefined
  runs: readonly string[]
  search: CompareSearch
  change: ChangeCompare
}

/** What the runs come to, and their rows in a list or in charts. */
function Results({ name, summary, runs, search, change }: ResultsProps) {
  return (
    <>
      {summary === undefined ? (
        <div className="p-4">
          <Skeleton className="h-40 w-full max-w-3xl" />
        </div>
      ) : (
        <CompareSummary name={name} summary={summary} runs={runs} search={search} change={change} />
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
                <CompareRows name={name} summary={summary} runs={runs} search={search} change={change} />
              </div>
            ),
          },
          {
            value: 'charts',
            label: 'Charts',
            content:
              summary === undefined ? null : (
                <CompareCharts name={name} summary={summary} runs={runs} search={search} change={change} />
              ),
          },
        ]}
      />
      {search.open >= 0 && (
        <ResultPeek
          name={name}
          runs={runs}
          index={search.open}
          request={resultsRequest(runs, search)}
          onClose={() => change({ open: -1 })}
          {...(search.view === 'charts' && {
            onMove: (by: -1 | 1) => change({ open: Math.max(0, search.open + by) }, 'replace'),
          })}
        />
      )}
    </>
  )
}

/** Ends an evaluation; only those that the server runs can be ended here, and it says so of the others. */
function Cancel({ project, id }: { project: string; id: string }) {
  const queries = useQueryClient()
  const cancel = useMutation({
    mutationFn: () => cancelEvaluation(project, id),
    onSettled: () => queries.invalidateQueries({ queryKey: ['calls', project] }),
    onError: (error) => notify({ title: error.message }),
  })
  return (
    <Button disabled={cancel.isPending} onClick={() => cancel.mutate()}>
      Cancel
    </Button>
  )
}
