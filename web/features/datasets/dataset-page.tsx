import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { ChevronLeft } from 'lucide-react'
import { useEffect, useMemo, useRef, useState } from 'react'
import { objectOf } from '../../api/json.ts'
import {
  countRows,
  findRow,
  objectQuery,
  readRows,
  type StoredRow,
  tableOf,
  versionsQuery,
} from '../../api/objects.ts'
import { type PagedRows, usePagedRows } from '../../api/paged-rows.ts'
import { projectId } from '../../api/project.ts'
import type { Json } from '../../api/wire.ts'
import { IconButton } from '../../components/button.tsx'
import { Id } from '../../components/copy-button.tsx'
import type { TableColumn } from '../../components/data-table/column.ts'
import { DataTable } from '../../components/data-table/data-table.tsx'
import { formatCount, MISSING } from '../../components/format.ts'
import { preview } from '../../components/json-view/json-lines.ts'
import { Page } from '../../components/page.tsx'
import { TextOrRef } from '../../components/ref-link.tsx'
import { EmptyState, ErrorState, StaleBanner } from '../../components/states.tsx'
import { notify } from '../../components/toast.ts'
import { VersionSelect } from '../../components/version-select.tsx'
import { DatasetRowPeek } from './dataset-row-peek.tsx'

const route = getRouteApi('/$entity/$project/datasets')

const PAGE_ROWS = 100
const SKELETON_ROWS = 20
const CELL_CHARS = 256

/** Columns beyond these are in the row itself. */
const COLUMNS_MAX = 24

/** One version of a dataset: its rows. */
export function DatasetPage() {
  const params = route.useParams()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const project = projectId(params)
  const { name, version, table } = search
  const isDataset = table === ''
  const dataset = useQuery({ ...objectQuery(project, name, version), enabled: isDataset })
  const { data: versions = [] } = useQuery({ ...versionsQuery(project, name), enabled: isDataset })
  const digest = isDataset ? tableOf(dataset.data?.val ?? null) : table
  const rows = useTableRows(project, digest)
  useOpenRow(project, digest)
  const [view, setView] = useState({ first: 0, last: PAGE_ROWS })
  const names = useNames(rows.rowAt, view, digest)
  const columns = useColumns(names.slice(0, COLUMNS_MAX))
  const error = dataset.error ?? rows.error
  const retry = () => {
    if (dataset.error !== null) void dataset.refetch()
    rows.retry()
  }
  const open = (_row: StoredRow, index: number) =>
    void navigate({ search: { ...search, open: index }, replace: search.open >= 0 })
  return (
    <Page
      tab={name || 'Table'}
      title={
        <DatasetTitle
          name={name || 'Table'}
          digest={isDataset ? dataset.data?.digest : table}
          rowCount={rows.isPending ? undefined : rows.rowCount}
        />
      }
      actions={
        isDataset && (
          <VersionSelect
            versions={versions}
            value={dataset.data?.digest ?? version}
            onChange={(next) => void navigate({ search: { name, version: next } })}
          />
        )
      }
    >
      {error !== null && !rows.isPending && <StaleBanner error={error} onRetry={retry} />}
      {names.length > COLUMNS_MAX && (
        <p className="px-4 py-1 text-xs text-muted">
          +{formatCount(names.length - COLUMNS_MAX)} columns, which a row has when it is opened.
        </p>
      )}
      {error !== null && rows.isPending ? (
        <ErrorState title="The dataset could not be loaded" error={error} onRetry={retry} />
      ) : dataset.data !== undefined && digest === undefined ? (
        <EmptyState title="The rows of this dataset are not here" />
      ) : (
        <DataTable
          label="Rows"
          memory={`dataset.${project}.${name}`}
          columns={columns}
          rowCount={rows.isPending ? SKELETON_ROWS : rows.rowCount}
          rowAt={rows.rowAt}
          rowId={(row) => String(row.original_index)}
          onRange={(first, last) => {
            rows.onRange(first, last)
            setView((old) => (old.first === first && old.last === last ? old : { first, last }))
          }}
          onOpen={open}
          {...(search.open >= 0 && { onActive: open })}
          openId={search.open < 0 ? undefined : String(search.open)}
          openIndex={search.open}
          question={`${name} ${digest}`}
          isStale={rows.isStale}
        />
      )}
      {search.open >= 0 && (
        <DatasetRowPeek
          project={project}
          table={digest}
          index={search.open}
          listed={rows.rowAt(search.open)}
          onClose={() => void navigate({ search: { ...search, open: -1 } })}
        />
      )}
    </Page>
  )
}

function useTableRows(project: string, digest: string | undefined): PagedRows<StoredRow> {
  return usePagedRows<StoredRow>({
    queryKey: ['tables', project, digest],
    pageSize: PAGE_ROWS,
    isEnabled: digest !== undefined,
    count: async ({ signal }) => (await countRows(project, [digest ?? ''], signal)).get(digest ?? '') ?? 0,
    page: (range, { signal }) => readRows(project, { digest: digest ?? '', ...range }, signal),
  })
}

interface DatasetTitleProps {
  name: string
  digest: string | undefined
  rowCount: number | undefined
}

function DatasetTitle({ name, digest, rowCount }: DatasetTitleProps) {
  const navigate = route.useNavigate()
  return (
    <span className="flex items-center gap-2">
      <IconButton
        label="All datasets"
        icon={<ChevronLeft size={16} />}
        onClick={() => void navigate({ search: {} })}
      />
      <span className="truncate">{name}</span>
      {digest !== undefined && (
        <span className="max-md:hidden">
          <Id id={digest} />
        </span>
      )}
      {rowCount !== undefined && (
        <span className="tabular text-xs font-normal text-muted">{formatCount(rowCount)} rows</span>
      )}
    </span>
  )
}

/** Opens the row that a ref names by its digest. */
function useOpenRow(project: string, table: string | undefined): void {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { row } = search
  const { data, error } = useQuery({
    queryKey: ['tables', project, table, 'row', row],
    enabled: row !== '' && table !== undefined,
    queryFn: ({ signal }) => findRow(project, { digest: table ?? '', row }, signal),
  })
  useEffect(() => {
    if (row === '' || data === undefined) return
    if (data === null) notify({ title: `There is no row ${row} here` })
    void navigate({ search: (old) => ({ ...old, row: '', open: data ?? -1 }), replace: true })
  }, [row, data, navigate])
  useEffect(() => {
    if (error !== null) notify({ title: `The row could not be found: ${error.message}` })
  }, [error])
}

/** The names in any row that has been seen of a version, in the order in which they were met. */
function useNames(
  rowAt: (index: number) => StoredRow | undefined,
  { first, last }: { first: number; last: number },
  digest: string | undefined,
): string[] {
  const seen = useRef({ digest, names: new Set<string>() })
  if (seen.current.digest !== digest) seen.current = { digest, names: new Set() }
  const { names } = seen.current
  const add = (index: number) => {
    for (const name of Object.keys(objectOf(rowAt(index)?.val))) names.add(name)
  }
  for (let index = 0; index < PAGE_ROWS; index++) add(index)
  for (let index = first; index <= last; index++) add(index)
  return [...names]
}

function useColumns(names: readonly string[]): TableColumn<StoredRow>[] {
  const key = JSON.stringify(names)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list is new each time, what is in it is not
  return useMemo(
    () => [
      {
        id: 'index',
        title: '#',
        width: 64,
        align: 'end',
        cell: (row) => <span className="text-muted">{row.original_index + 1}</span>,
      },
      ...names.map((name) => ({
        id: `column ${name}`,
        title: name === '' ? '(no name)' : name,
        width: 200,
        grows: true,
        cell: (row: StoredRow) => <Cell value={objectOf(row.val)[name]} />,
      })),
    ],
    [key],
  )
}

/** A row may lack what another has, which is not the same as null. */
function Cell({ value }: { value: Json | undefined }) {
  if (value === undefined) return <span className="text-muted">{MISSING}</span>
  return <TextOrRef text={preview(value, CELL_CHARS)} />
}
