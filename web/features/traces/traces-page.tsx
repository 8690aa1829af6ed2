import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { type ReactNode, Suspense, useCallback, useEffect, useMemo, useState } from 'react'
import { type ProjectName, projectId } from '../../api/project.ts'
import { Button } from '../../components/button.tsx'
import { DataTable } from '../../components/data-table/data-table.tsx'
import type { RowPage } from '../../components/data-table/row-link.tsx'
import { formatCount } from '../../components/format.ts'
import { lazyPart, loadPart } from '../../components/lazy-part.ts'
import { Page } from '../../components/page.tsx'
import { ErrorState, StaleBanner } from '../../components/states.tsx'
import { fieldsQuery, pathsIn } from './call-fields.ts'
import type { CallRow } from './call-row.ts'
import { cellActions } from './cell-actions.ts'
import { columnsOf, rememberColumns, rememberedColumns } from './columns.tsx'
import { FilterBar } from './filter-bar.tsx'
import { Histogram } from './histogram.tsx'
import { NarrowRow } from './narrow-row.tsx'
import { NoCalls } from './no-calls.tsx'
import { useRowLines } from './row-lines.ts'
import { type ChangeSearch, SORT_DEFAULT, type TracesSearch } from './search.ts'
import { TracesActions } from './traces-actions.tsx'
import { type ChosenCalls, useChosen } from './use-chosen.ts'
import { type Traces, useFollowing, useTraces } from './use-traces.ts'

const loadPeek = () => loadPart(() => import('./call-peek.tsx'))
const CallPeek = lazyPart(async () => (await loadPeek()).CallPeek)
const SelectionBar = lazyPart(async () => (await import('./selection-bar.tsx')).SelectionBar)

const route = getRouteApi('/$entity/$project/traces')

interface TracesPageProps {
  /** Everything of one call, for the panel, and which part of it is open. */
  detail: (name: ProjectName, id: string, tab: TabChoice) => ReactNode
}

export interface TabChoice {
  tab: string
  onTab: (tab: string) => void
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
  const [lines, setLines] = useRowLines()
  const traces = useTraces(project, search, { columns: ids, lines })
  const chosen = useChosen(project, questionOf(search), traces)
  // The first row that is opened should not wait for it.
  useEffect(() => void loadPeek(), [])
  const [isAtTop, setAtTop] = useState(true)
  // Rows keep their places while a person reads or selects some.
  useFollowing(traces, isAtTop && search.open === '' && chosen.share === 'none')
  // How often the list was brought to its top to see what is new.
  const [topped, setTopped] = useState(0)
  const showNew = () => {
    traces.showNew()
    setTopped((times) => times + 1)
  }
  const shown = { search, change, project, traces }
  return (
    <Page
      title={<Title traces={traces} />}
      tab={`Traces of ${name.project}`}
      actions={<TracesActions {...shown} ids={ids} onColumns={setColumns} lines={lines} onLines={setLines} />}
      toolbar={<FilterBar {...shown} onNew={showNew} />}
    >
      <Histogram {...shown} />
      {traces.error !== null && !traces.isPending && (
        <StaleBanner error={traces.error} onRetry={traces.retry} />
      )}
      {traces.error !== null && traces.isPending ? (
        <ErrorState
          title="Calls could not be loaded"
          error={traces.error}
          onRetry={traces.retry}
          actions={<Exits search={search} change={change} />}
        />
      ) : !traces.isPending && traces.rowCount === 0 ? (
        <NoCalls {...shown} />
      ) : (
        <CallsTable
          {...shown}
          ids={ids}
          lines={lines}
          chosen={chosen}
          topped={topped}
          onColumns={setColumns}
          onAtTop={setAtTop}
        />
      )}
      {chosen.share !== 'none' && (
        <Suspense fallback={<div className="h-10 shrink-0 border-t border-hair bg-panel" />}>
          <SelectionBar project={project} traces={traces} chosen={chosen} ids={ids} />
        </Suspense>
      )}
      {search.open !== '' && (
        <Suspense>
          <CallPeek name={name} id={search.open} onClose={() => change({ open: '', tab: 'auto' })}>
            {detail(name, search.open, { tab: search.tab, onTab: (tab) => change({ tab }, 'replace') })}
          </CallPeek>
        </Suspense>
      )}
    </Page>
  )
}

interface CallsTableProps {
  search: TracesSearch
  change: ChangeSearch
  project: string
  traces: Traces
  ids: readonly string[]
  lines: number
  chosen: ChosenCalls
  topped: number
  onColumns: (ids: string[]) => void
  onAtTop: (isAtTop: boolean) => void
}

function CallsTable({ search, change, project, traces, ids, lines, chosen, topped, ...on }: CallsTableProps) {
  const columnKey = JSON.stringify(ids)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list may be new each time, what is in it is not
  const columns = useMemo(() => columnsOf(ids), [columnKey])
  const [needsPaths, setNeedsPaths] = useState(false)
  const { data: known } = useQuery({ ...fieldsQuery(project), enabled: needsPaths })
  const { onRange: needRows } = traces
  const { onAtTop } = on
  const onRange = useCallback(
    (first: number, last: number) => {
      onAtTop(first === 0)
      needRows(first, last)
    },
    [needRows, onAtTop],
  )
  const open = useCallback(
    (row: CallRow) => change({ open: row.id }, search.open === '' ? 'push' : 'replace'),
    [change, search.open],
  )
  const names = route.useParams()
  const pageOf = useCallback(
    ({ id }: CallRow): RowPage => ({ to: '/$entity/$project/calls/$id', params: { ...names, id } }),
    [names],
  )
  return (
    <DataTable
      label="Calls"
      memory={`calls.${project}`}
      columns={columns}
      rowCount={traces.isPending ? SKELETON_ROWS : traces.rowCount}
      rowAt={traces.rowAt}
      rowId={rowId}
      onRange={onRange}
      onOpen={open}
      pageOf={pageOf}
      {...(search.open !== '' && { onActive: open })}
      openId={search.open}
      selected={chosen}
      onSelect={chosen.onSelect}
      all={{ share: chosen.share, isDisabled: !chosen.canChooseAll, onChoose: chosen.chooseAll }}
      lines={lines}
      onCellMenu={() => setNeedsPaths(true)}
      cellMenu={(row, column) =>
        cellActions(row, column, {
          project,
          paths: pathsIn(known?.fields ?? []),
          ids,
          onFilter: (condition) => change({ filter: [...search.filter, condition], open: '' }),
          onColumn: (path) => on.onColumns([...ids, path]),
        })
      }
      sort={{
        column: search.sort.replace(/^-/, ''),
        direction: search.sort.startsWith('-') ? 'desc' : 'asc',
      }}
      onSort={({ column, direction }) => change({ sort: `${direction === 'desc' ? '-' : ''}${column}` })}
      narrow={narrow}
      question={`${questionOf(search)} ${topped}`}
      isStale={traces.isStale}
    />
  )
}

/** Links that leave a filter which the server refuses. */
function Exits({ search, change }: { search: TracesSearch; change: ChangeSearch }) {
  return (
    <>
      {(search.filter.length > 0 || search.text !== '') && (
        <Button onClick={() => change({ filter: [], text: '' })}>Drop all conditions</Button>
      )}
      {search.sort !== SORT_DEFAULT && (
        <Button onClick={() => change({ sort: SORT_DEFAULT })}>Newest first</Button>
      )}
    </>
  )
}

/** As many as fill a screen. */
const SKELETON_ROWS = 40

const rowId = (row: CallRow) => row.id
const narrow = (row: CallRow) => <NarrowRow row={row} />

/** What decides which rows there are, and their order. */
function questionOf({ filter, text, range, sort, calls }: TracesSearch): string {
  return JSON.stringify([filter, text, range, sort, calls])
}

function Title({ traces }: { traces: Traces }) {
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
