import { getRouteApi } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense, useCallback, useEffect, useMemo, useState } from 'react'
import { type ProjectName, projectId } from '../../api/project.ts'
import { DataTable } from '../../components/data-table/data-table.tsx'
import { formatCount } from '../../components/format.ts'
import { Page } from '../../components/page.tsx'
import { ErrorState, StaleBanner } from '../../components/states.tsx'
import type { CallRow } from './call-row.ts'
import { columnOf, rememberColumns, rememberedColumns } from './columns.tsx'
import { FilterBar } from './filter-bar.tsx'
import { Histogram } from './histogram.tsx'
import { NarrowRow } from './narrow-row.tsx'
import { NoCalls } from './no-calls.tsx'
import type { ChangeSearch } from './search.ts'
import { TracesActions } from './traces-actions.tsx'
import { useFollowing, useTraces } from './use-traces.ts'

const loadPeek = () => import('./call-peek.tsx')
const CallPeek = lazy(async () => ({ default: (await loadPeek()).CallPeek }))

const route = getRouteApi('/$entity/$project/traces')

interface TracesPageProps {
  /** Everything of one call, for the panel. */
  detail: (name: ProjectName, id: string) => ReactNode
}

/** Every call of a project: found, sorted, looked into. */
export function TracesPage({ detail }: TracesPageProps) {
  const name = route.useParams()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const project = projectId(name)
  const change = useCallback<ChangeSearch>(
    (changed, how = 'push') =>
      void navigate({ search: (old) => ({ ...old, ...changed }), replace: how === 'replace' }),
    [navigate],
  )
  const [remembered, setRemembered] = useState(() => rememberedColumns(project))
  const ids = search.columns.length > 0 ? search.columns : remembered
  const setColumns = (next: string[]) => {
    setRemembered(next)
    rememberColumns(project, next)
    change({ columns: [] }, 'replace')
  }
  const columnKey = ids.join('\n')
  const columns = useMemo(() => columnKey.split('\n').map(columnOf), [columnKey])
  const traces = useTraces(project, search, ids)
  // The first row that is opened should not wait for it.
  useEffect(() => void loadPeek(), [])
  const [isAtTop, setAtTop] = useState(true)
  useFollowing(traces, isAtTop && search.open === '')
  const { onRange: needRows } = traces
  const onRange = useCallback(
    (first: number, last: number) => {
      setAtTop(first === 0)
      needRows(first, last)
    },
    [needRows],
  )
  const open = useCallback(
    (row: CallRow) => change({ open: row.id }, search.open === '' ? 'push' : 'replace'),
    [change, search.open],
  )
  const shown = { search, change, project, traces }
  return (
    <Page
      title={<Title traces={traces} />}
      tab={`Traces of ${name.project}`}
      actions={<TracesActions {...shown} ids={ids} onColumns={setColumns} />}
      toolbar={<FilterBar {...shown} />}
    >
      <Histogram {...shown} />
      {traces.error !== null && !traces.isPending && (
        <StaleBanner error={traces.error} onRetry={traces.retry} />
      )}
      {traces.error !== null && traces.isPending ? (
        <ErrorState title="Calls could not be loaded" error={traces.error} onRetry={traces.retry} />
      ) : !traces.isPending && traces.rowCount === 0 ? (
        <NoCalls {...shown} />
      ) : (
        <DataTable
          label="Calls"
          memory={`calls.${project}`}
          columns={columns}
          rowCount={traces.isPending ? SKELETON_ROWS : traces.rowCount}
          rowAt={traces.rowAt}
          rowId={rowId}
          onRange={onRange}
          onOpen={open}
          {...(search.open !== '' && { onActive: open })}
          openId={search.open}
          sort={{
            column: search.sort.replace(/^-/, ''),
            direction: search.sort.startsWith('-') ? 'desc' : 'asc',
          }}
          onSort={({ column, direction }) => change({ sort: `${direction === 'desc' ? '-' : ''}${column}` })}
          narrow={narrow}
          question={JSON.stringify([search.filter, search.text, search.range, search.sort, search.calls])}
          isStale={traces.isStale}
        />
      )}
      {search.open !== '' && (
        <Suspense>
          <CallPeek name={name} id={search.open} onClose={() => change({ open: '' })}>
            {detail(name, search.open)}
          </CallPeek>
        </Suspense>
      )}
    </Page>
  )
}

/** As many as fill a screen. */
const SKELETON_ROWS = 40

const rowId = (row: CallRow) => row.id
const narrow = (row: CallRow) => <NarrowRow row={row} />

function Title({ traces }: { traces: ReturnType<typeof useTraces> }) {
  return (
    <span className="flex items-baseline gap-2">
      Traces
      {!traces.isPending && (
        <span className="tabular text-xs font-normal text-muted" title={traces.rowCount.toLocaleString('en')}>
          {formatCount(traces.rowCount)} {traces.rowCount === 1 ? 'call' : 'calls'}
        </span>
      )}
    </span>
  )
}
