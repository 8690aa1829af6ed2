import type { UseInfiniteQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ErrorState, StaleBanner } from '../states.tsx'
import type { TableColumn } from './column.ts'
import { DataTable } from './data-table.tsx'
import { useNextPage } from './next-page.ts'
import type { RowPage } from './row-link.tsx'

interface PagedTableProps<Row> {
  label: string
  /** The name under which the widths of its columns are kept. */
  memory: string
  /** Such as `The events`. */
  what: string
  empty: ReactNode
  query: UseInfiniteQueryResult<Row[]>
  columns: readonly TableColumn<Row>[]
  /** What the rows depend on. */
  question: string
  openId?: string
  onOpen?: (row: Row) => void
  /** The page of a row, which its name is a link to; without `onOpen`, a click opens it too. */
  pageOf?: (row: Row) => RowPage
  narrow: (row: Row) => ReactNode
}

const SKELETON_ROWS = 8

/** A long list whose further pages are loaded when its end comes into view. */
export function PagedTable<Row extends { id: string }>(props: PagedTableProps<Row>) {
  const { what, empty, query, ...table } = props
  const { data, error, hasNextPage } = query
  const loaded = data?.length ?? 0
  const { onRange, retry } = useNextPage(query, loaded - 1)
  if (data === undefined && error !== null)
    return <ErrorState title={`${what} could not be loaded`} error={error} onRetry={retry} />
  if (data?.length === 0) return empty
  return (
    <>
      {error !== null && <StaleBanner error={error} onRetry={retry} />}
      <DataTable
        rowCount={data === undefined ? SKELETON_ROWS : loaded + (hasNextPage ? 1 : 0)}
        rowAt={(index) => data?.[index]}
        rowId={(row) => row.id}
        onRange={onRange}
        isStale={query.isPlaceholderData}
        {...table}
      />
    </>
  )
}
