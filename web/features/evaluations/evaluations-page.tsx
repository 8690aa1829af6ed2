import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { GitCompareArrows } from 'lucide-react'
import { useMemo, useState } from 'react'
import { LISTED_MAX, listEvaluations } from '../../api/evaluations.ts'
import { projectId } from '../../api/project.ts'
import { LIVE_MS } from '../../api/query-client.ts'
import { Button } from '../../components/button.tsx'
import { DataTable } from '../../components/data-table/data-table.tsx'
import { Page } from '../../components/page.tsx'
import { ErrorState, Skeleton, StaleBanner } from '../../components/states.tsx'
import { notify } from '../../components/toast.ts'
import { NoEvaluations } from './no-evaluations.tsx'
import { listedMetrics, NarrowRun, runColumns } from './run-columns.tsx'
import { type RunRow, runRow } from './run-row.ts'
import { RUNS_MAX } from './search.ts'
import { useScores } from './use-scores.ts'

const route = getRouteApi('/$entity/$project/evaluations')
const NO_ROWS: readonly RunRow[] = []

/** Every evaluation of a project; several are ticked to be compared. */
export function EvaluationsPage() {
  const name = route.useParams()
  const navigate = route.useNavigate()
  const project = projectId(name)
  const { data, error, refetch } = useQuery({
    queryKey: ['calls', project, 'evaluations'],
    queryFn: ({ signal }) => listEvaluations(project, signal),
    refetchInterval: LIVE_MS,
  })
  const rows = useMemo(() => data?.map(runRow), [data])
  const { scores, onRange, ...scoring } = useScores(project, rows ?? NO_ROWS)
  const { listed, others } = useMemo(() => listedMetrics(rows ?? NO_ROWS, scores), [rows, scores])
  const columns = useMemo(() => runColumns(project, listed, scores), [project, listed, scores])
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const compare = (ids: readonly string[]) =>
    void navigate({ to: '/$entity/$project/compare', params: name, search: { runs: [...ids] } })
  const toggle = (id: string) => {
    const next = new Set(chosen)
    if (!next.delete(id)) next.add(id)
    if (next.size <= RUNS_MAX) setChosen(next)
    else notify({ title: `At most ${RUNS_MAX} evaluations are compared at once` })
  }
  // The oldest of the compared evaluations is the baseline.
  const ordered = (rows ?? [])
    .filter(({ id }) => chosen.has(id))
    .map(({ id }) => id)
    .reverse()
  return (
    <Page
      title="Evaluations"
      tab={`Evaluations of ${name.project}`}
      actions={
        <Button
          look={ordered.length > 1 ? 'primary' : 'plain'}
          icon={<GitCompareArrows size={14} />}
          disabled={ordered.length < 2}
          title="Tick two or more evaluations, with x or their boxes"
          onClick={() => compare(ordered)}
        >
          {ordered.length > 1 ? `Compare ${ordered.length}` : 'Compare'}
        </Button>
      }
    >
      {error !== null && rows !== undefined && <StaleBanner error={error} onRetry={() => void refetch()} />}
      {error === null && scoring.error !== null && (
        <StaleBanner error={scoring.error} onRetry={scoring.retry} />
      )}
      {rows?.length === LISTED_MAX && (
        <p className="px-4 py-1 text-xs text-muted">
          The newest {LISTED_MAX.toLocaleString('en')} are listed.
        </p>
      )}
      {others > 0 && (
        <p className="px-4 py-1 text-xs text-muted">
          +{others.toLocaleString('en')} metrics, which the pages of the evaluations show.
        </p>
      )}
      {error !== null && rows === undefined ? (
        <ErrorState title="Evaluations could not be loaded" error={error} onRetry={() => void refetch()} />
      ) : rows === undefined ? (
        // The columns are not known yet, and must not move once they are there.
        <Skeleton className="m-4 h-64" />
      ) : rows.length === 0 ? (
        <NoEvaluations project={project} />
      ) : (
        <DataTable
          label="Evaluations"
          memory={`evaluations.${project}`}
          columns={columns}
          rowCount={rows.length}
          rowAt={(index) => rows[index]}
          rowId={(row) => row.id}
          onRange={onRange}
          selected={chosen}
          onSelect={toggle}
          pageOf={({ id }) => ({ to: '/$entity/$project/compare', params: name, search: { runs: [id] } })}
          narrow={(row) => <NarrowRun row={row} results={scores.get(row.id)} />}
        />
      )}
    </Page>
  )
}
