import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { ChevronLeft } from 'lucide-react'
import { useMemo } from 'react'
import { objectOf } from '../../api/json.ts'
import {
  countRows,
  objectQuery,
  readRows,
  type StoredRow,
  tableOf,
  versionsQuery,
} from '../../api/objects.ts'
import { usePagedRows } from '../../api/paged-rows.ts'
import { projectId } from '../../api/project.ts'
import { IconButton } from '../../components/button.tsx'
import { Id } from '../../components/copy-button.tsx'
import type { TableColumn } from '../../components/data-table/column.ts'
import { DataTable } from '../../components/data-table/data-table.tsx'
import { formatCount } from '../../components/format.ts'
import { preview } from '../../components/json-view/json-lines.ts'
import { JsonView } from '../../components/json-view/json-view.tsx'
import { Page } from '../../components/page.tsx'
import { RowPeek } from '../../components/row-peek.tsx'
import { EmptyState, ErrorState } from '../../components/states.tsx'
import { VersionSelect } from '../../components/version-select.tsx'

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
  const { name, version } = search
  const dataset = useQuery(objectQuery(project, name, version))
  const { data: versions = [] } = useQuery(versionsQuery(project, name))
  const digest = dataset.data === undefined ? undefined : tableOf(dataset.data.val)
  const rows = usePagedRows<StoredRow>({
    queryKey: ['tables', project, digest],
    pageSize: PAGE_ROWS,
    isEnabled: digest !== undefined,
    count: async ({ signal }) => (await countRows(project, [digest ?? ''], signal)).get(digest ?? '') ?? 0,
    page: (range, { signal }) => readRows(project, { digest: digest ?? '', ...range }, signal),
  })
  const columns = useColumns(rows.rowAt(0))
  const error = dataset.error ?? (rows.isPending ? rows.error : null)
  const opened = rows.rowAt(search.open)
  const open = (_row: StoredRow, index: number) =>
    void navigate({ search: { ...search, open: index }, replace: search.open >= 0 })
  return (
    <Page
      tab={name}
      title={
        <span className="flex items-center gap-2">
          <IconButton
            label="All datasets"
            icon={<ChevronLeft size={16} />}
            onClick={() => void navigate({ search: {} })}
          />
          <span className="truncate">{name}</span>
          {dataset.data !== undefined && (
            <span className="max-md:hidden">
              <Id id={dataset.data.digest} />
            </span>
          )}
          {!rows.isPending && (
            <span className="tabular text-xs font-normal text-muted">{formatCount(rows.rowCount)} rows</span>
          )}
        </span>
      }
      actions={
        <VersionSelect
          versions={versions}
          value={dataset.data?.digest ?? version}
          onChange={(next) => void navigate({ search: { name, version: next } })}
        />
      }
    >
      {error !== null ? (
        <ErrorState
          title="The dataset could not be loaded"
          error={error}
          onRetry={() => void dataset.refetch()}
        />
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
          onRange={rows.onRange}
          onOpen={open}
          {...(search.open >= 0 && { onActive: open })}
          openId={search.open < 0 ? undefined : String(search.open)}
          question={`${name} ${digest}`}
          isStale={rows.isStale}
        />
      )}
      {search.open >= 0 && (
        <RowPeek index={search.open} onClose={() => void navigate({ search: { ...search, open: -1 } })}>
          <div className="thin-scroll min-h-0 flex-1 overflow-y-auto px-3 py-2">
            {opened !== undefined && (
              <JsonView key={opened.digest} label="Row" value={opened.val} maxHeight="fill" />
            )}
          </div>
        </RowPeek>
      )}
    </Page>
  )
}

/** The columns of a table are those of its first row. */
function useColumns(first: StoredRow | undefined): TableColumn<StoredRow>[] {
  const names = Object.keys(objectOf(first?.val)).slice(0, COLUMNS_MAX)
  const key = names.join('\n')
  return useMemo(
    () => [
      {
        id: 'index',
        title: '#',
        width: 64,
        align: 'end',
        cell: (row) => <span className="text-muted">{row.original_index + 1}</span>,
      },
      ...key
        .split('\n')
        .filter((name) => name !== '')
        .map((name) => ({
          id: `column ${name}`,
          title: name,
          width: 200,
          grows: true,
          cell: (row: StoredRow) => preview(objectOf(row.val)[name] ?? null, CELL_CHARS),
        })),
    ],
    [key],
  )
}
