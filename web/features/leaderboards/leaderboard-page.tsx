import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { listEvaluations } from '../../api/evaluations.ts'
import { objectOf } from '../../api/json.ts'
import { objectQuery } from '../../api/objects.ts'
import { projectId } from '../../api/project.ts'
import { LIVE_MS } from '../../api/query-client.ts'
import { nameOfRef } from '../../api/weave-ref.ts'
import type { TableColumn } from '../../components/data-table/column.ts'
import { DataTable } from '../../components/data-table/data-table.tsx'
import { formatNumber, MISSING } from '../../components/format.ts'
import { preview } from '../../components/json-view/json-lines.ts'
import { Page } from '../../components/page.tsx'
import { TextOrRef } from '../../components/ref-link.tsx'
import { EmptyState, ErrorState, StaleBanner } from '../../components/states.tsx'
import { type BoardColumn, columnsOf, rankedBy, type Standing, standingsOf } from './standings.ts'

const route = getRouteApi('/$entity/$project/leaderboards/$name')
const SKELETON_ROWS = 6

/** A leaderboard: models by what they have in the summaries of its evaluations. */
export function LeaderboardPage() {
  const { name, ...names } = route.useParams()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const project = projectId(names)
  const board = useQuery(objectQuery(project, name, 'latest'))
  const value = board.data?.val
  const columns = useMemo(() => columnsOf(value ?? null), [value])
  const evaluations = [...new Set(columns.map(({ evaluation }) => evaluation))]
  const calls = useQuery({
    queryKey: ['calls', project, 'evaluations', evaluations],
    enabled: evaluations.length > 0,
    queryFn: ({ signal }) => listEvaluations(project, signal, evaluations),
    refetchInterval: LIVE_MS,
  })
  const rows = useMemo(
    () => calls.data && rankedBy(standingsOf(columns, calls.data), search, columns),
    [calls.data, columns, search],
  )
  const shown = useMemo(() => tableColumns(columns), [columns])
  const isLess = columns[search.by]?.isLessBetter ?? false
  const error = board.error ?? (rows === undefined ? calls.error : null)
  const description = objectOf(value)['description']
  return (
    <Page
      title={name}
      tab={`${name} of ${names.project}`}
      actions={
        <Link
          to="/$entity/$project/objects/$name/versions/$version"
          params={{ ...names, name, version: 'latest' }}
          className="text-sm text-link hover:underline"
        >
          Its versions
        </Link>
      }
      toolbar={typeof description === 'string' && <p className="truncate text-muted">{description}</p>}
    >
      {calls.error !== null && rows !== undefined && (
        <StaleBanner error={calls.error} onRetry={() => void calls.refetch()} />
      )}
      {error !== null ? (
        <ErrorState
          title="The leaderboard could not be loaded"
          error={error}
          onRetry={() => void (board.error === null ? calls : board).refetch()}
        />
      ) : board.data !== undefined && columns.length === 0 ? (
        <EmptyState title="This leaderboard has no columns" />
      ) : rows?.length === 0 ? (
        <EmptyState title="No model has been evaluated yet">
          <p>A model is here as soon as an evaluation of this leaderboard has ended.</p>
        </EmptyState>
      ) : (
        <DataTable
          label="Models"
          memory={`leaderboard.${project}.${name}`}
          columns={shown}
          rowCount={rows?.length ?? SKELETON_ROWS}
          rowAt={(index) => rows?.[index]}
          rowId={(row) => row.model}
          sort={{ column: String(search.by), direction: isLess === search.worst ? 'desc' : 'asc' }}
          onSort={({ column }) => {
            const by = Number(column)
            void navigate({ search: { by, worst: by === search.by && !search.worst } })
          }}
          onOpen={({ scores }) => {
            const runs = [...new Set(scores.flatMap((score) => score?.call ?? []))]
            void navigate({ to: '/$entity/$project/compare', params: names, search: { runs } })
          }}
          question={JSON.stringify(search)}
          narrow={(row) => <NarrowModel row={row} by={search.by} />}
        />
      )}
    </Page>
  )
}

function tableColumns(columns: readonly BoardColumn[]): TableColumn<Standing>[] {
  const isOfOne = new Set(columns.map(({ evaluation }) => evaluation)).size === 1
  return [
    {
      id: 'model',
      title: 'Model',
      width: 260,
      grows: true,
      cell: (row) => <TextOrRef text={row.model} />,
    },
    ...columns.map(({ evaluation, scorer, path }, place) => ({
      id: String(place),
      title: `${isOfOne ? '' : `${nameOfRef(evaluation)}: `}${scorer} ${path}`,
      width: 220,
      align: 'end' as const,
      isSortable: true,
      cell: (row: Standing) => scoreText(row, place),
    })),
  ]
}

function scoreText({ scores }: Standing, place: number): string {
  const value = scores[place]?.value
  if (value === undefined) return MISSING
  return typeof value === 'number' ? formatNumber(value) : preview(value)
}

/** Two lines of a model, on a phone. */
function NarrowModel({ row, by }: { row: Standing; by: number }) {
  return (
    <span className="min-w-0 flex-1">
      <span className="block truncate text-strong">{nameOfRef(row.model)}</span>
      <span className="tabular block text-xs text-muted">{scoreText(row, by)}</span>
    </span>
  )
}
