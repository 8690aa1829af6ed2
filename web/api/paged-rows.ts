import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query'
import { useCallback, useRef, useState } from 'react'

/** Pages out of view are dropped after this, so memory does not grow with scrolling. */
const FORGET_MS = 20_000
/** A page that is only scrolled past is not requested. */
const PASSING_MS = 60

interface PagedOptions<Row> {
  /** All that determines the rows; rows of another key are shown, as stale, until the first of this one arrive. */
  queryKey: readonly unknown[]
  pageSize: number
  count: (options: { signal: AbortSignal }) => Promise<number>
  page: (range: { offset: number; limit: number }, options: { signal: AbortSignal }) => Promise<Row[]>
  /** Milliseconds after which a page is requested again, for rows that may still change; false for never. */
  refetchMs?: (rows: readonly Row[] | undefined) => number | false
  /** The same for the count, of a list that may still grow; false where absent. */
  countRefetchMs?: number | false
  isEnabled?: boolean
}

export interface PagedRows<Row> {
  rowCount: number
  rowAt: (index: number) => Row | undefined
  onRange: (first: number, last: number) => void
  error: Error | null
  retry: () => void
  /** No page has arrived yet. */
  isPending: boolean
  isStale: boolean
}

/** Rows of a list of any length for a table: only the pages in view are requested and kept. */
export function usePagedRows<Row>(options: PagedOptions<Row>): PagedRows<Row> {
  const { queryKey, pageSize, isEnabled = true } = options
  const [pages, setPages] = useState<Pages>({ first: 0, last: 0 })
  const travel = useRef<Travel>({ row: 0, way: 'none' })
  const total = useQuery({
    queryKey: [...queryKey, 'count'],
    queryFn: ({ signal }) => options.count({ signal }),
    enabled: isEnabled,
    refetchInterval: options.countRefetchMs ?? false,
    placeholderData: keepPreviousData,
  })
  const end = total.data === undefined ? pages.last : Math.ceil(total.data / pageSize) - 1
  const numbers = Array.from(
    { length: Math.max(1, Math.min(pages.last, end) - pages.first + 1) },
    (_, index) => pages.first + index,
  )
  const results = useQueries({
    queries: numbers.map((number) => ({
      queryKey: [...queryKey, 'page', number],
      gcTime: FORGET_MS,
      enabled: isEnabled,
      refetchInterval: ({ state }: { state: { data: Row[] | undefined } }) =>
        options.refetchMs?.(state.data) ?? false,
      queryFn: async ({ signal }: { signal: AbortSignal }) => {
        if (number > 0) await new Promise((wake) => setTimeout(wake, PASSING_MS))
        signal.throwIfAborted()
        return await options.page({ offset: number * pageSize, limit: pageSize }, { signal })
      },
    })),
  })
  const loaded = new Map(numbers.map((number, index) => [number, results[index]?.data]))
  const key = JSON.stringify(queryKey)
  const isCounted = total.data !== undefined && !total.isPlaceholderData
  const hasRows = isCounted && [...loaded.values()].some((rows) => rows !== undefined)
  const current: Shown<Row> = { key, rowCount: total.data ?? 0, pages: loaded }
  const shown = useRef<Shown<Row>>(undefined)
  if (hasRows || shown.current?.key === key) shown.current = current
  const { rowCount, pages: byNumber } = shown.current ?? current
  const rowAt = (index: number) => byNumber.get(Math.floor(index / pageSize))?.[index % pageSize]
  const failed = [total, ...results].find(({ error }) => error !== null)
  return {
    rowCount,
    rowAt,
    onRange: useCallback(
      (first: number, last: number) => {
        travel.current = travelTo(travel.current, first)
        const next = neededPages({ first, last, way: travel.current.way, pageSize })
        setPages((old) => (old.first === next.first && old.last === next.last ? old : next))
      },
      [pageSize],
    ),
    error: failed?.error ?? null,
    retry: () => {
      for (const query of [total, ...results]) if (query.error !== null) void query.refetch()
    },
    isPending: shown.current === undefined,
    isStale: shown.current !== undefined && shown.current.key !== key,
  }
}

interface Pages {
  first: number
  last: number
}

/** The first row in view, and the direction of scrolling. */
interface Travel {
  row: number
  way: 'none' | 'up' | 'down'
}

function travelTo(old: Travel, row: number): Travel {
  return row === old.row ? old : { row, way: row < old.row ? 'up' : 'down' }
}

/** The pages in view, and the next one on the way, so that its rows are there when a person comes to them. */
function neededPages(view: { first: number; last: number; way: Travel['way']; pageSize: number }): Pages {
  const { first, last, way, pageSize } = view
  const pageOf = (row: number) => Math.max(0, Math.floor(row / pageSize))
  return {
    first: pageOf(way === 'up' ? first - pageSize : first),
    last: pageOf(way === 'down' ? last + pageSize : last),
  }
}

interface Shown<Row> {
  key: string
  rowCount: number
  pages: ReadonlyMap<number, Row[] | undefined>
}
