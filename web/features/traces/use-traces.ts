import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import {
  type CallsFilter,
  type CallsRequest,
  countCalls,
  type Operation,
  streamCalls,
} from '../../api/calls.ts'
import { type PagedRows, usePagedRows } from '../../api/paged-rows.ts'
import { LIVE_MS } from '../../api/query-client.ts'
import { serverNow } from '../../api/server-clock.ts'
import { type CallRow, rowOf, shortText } from './call-row.ts'
import { columnOf, neededFor, pathsOf } from './columns.tsx'
import { operationOf, textOperation } from './conditions.ts'
import { type Counted, counted, NOT_COUNTED, newSince, pauseMs } from './new-calls.ts'
import { SORT_DEFAULT, type TracesSearch } from './search.ts'
import { type TimeSpan, timeSpan } from './time-range.ts'

/** What the API reads by one query. */
const PAGE_CALLS = 100

/** What decides which calls are listed. */
type Question = Pick<TracesSearch, 'filter' | 'text' | 'range' | 'calls' | 'sort'>

/** A list of calls, of which the pages in view are loaded. */
export interface Traces extends PagedRows<CallRow> {
  /** The times that the list covers. */
  span: TimeSpan
  /** No call starts later: the time of the first request, or when the newest call started where that is later. */
  latest: number
  /** The request of the rows that are shown, stale ones as well, without a page. */
  request: CallsRequest
  /** The project has no such call at all, whatever the conditions. */
  isEmptyProject: boolean
  /** Calls that arrived after the list's first request. */
  newCount: number
  showNew: () => void
}

/**
 * The calls of a project for the table. The list ends at the time of its first request, so that rows keep their places
 * while others arrive; those are counted, and shown on `showNew`. Many arrive only when they have ended, with an
 * earlier start: new is what the list would have more by now, wherever it stands.
 */
export function useTraces(
  project: string,
  search: Question,
  { columns, lines }: { columns: readonly string[]; lines: number },
): Traces {
  const queries = useQueryClient()
  const filter = filterOf(search)
  const newest = useQuery({
    queryKey: ['calls', project, 'newest', filter],
    queryFn: ({ signal }) => readNewest(project, filter, signal),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const [opened] = useState(serverNow)
  const until = newest.data?.askedAt ?? opened
  const newestAt = newest.data?.startedAt ?? undefined
  const span = useMemo(() => timeSpan(search.range, until, newestAt), [search.range, until, newestAt])
  // The clock of who wrote the newest call may be ahead.
  const latest = Math.max(until, newestAt ?? 0)
  const isLive = !search.range.includes('..')
  const to = isLive ? latest : span.to
  const selection = useMemo(() => selectionOf(search, { from: span.from, to }), [search, span.from, to])
  const sort_by = sortBy(search.sort)
  const shown = neededFor(columns)
  const rows = usePagedRows<CallRow>({
    queryKey: ['calls', project, 'list', selection, isLive && until, sort_by, columns, lines],
    pageSize: PAGE_CALLS,
    isEnabled: !newest.isPending,
    count: ({ signal }) => countCalls(project, selection, { signal }),
    page: ({ offset, limit }, { signal }) =>
      readRows(project, { ...selection, ...shown, sort_by, offset, limit }, { columns, lines, signal }),
    refetchMs: (page) => (page?.some(({ status }) => status === 'running') ? LIVE_MS : false),
  })
  const listed = useRef<CallsRequest>({})
  if (!rows.isStale) listed.current = { ...selection, sort_by }
  const isEmptyProject = newest.data?.startedAt === null
  // The first call of a project may be of any time.
  const from = isEmptyProject ? undefined : span.from
  const freshKey = ['calls', project, 'fresh', selection, until]
  const fresh = useQuery({
    queryKey: freshKey,
    enabled: isLive && !newest.isPending,
    // The list has just been counted itself.
    initialData: NOT_COUNTED,
    refetchInterval: ({ state }) => pauseMs(state.data),
    queryFn: async ({ signal }) => {
      const askedAt = performance.now()
      const count = await countCalls(project, selectionOf(search, { from, to: undefined }), { signal })
      const tookMs = performance.now() - askedAt
      return counted({ count, tookMs }, queries.getQueryData<Counted>(freshKey))
    },
    select: (now) => newSince(now, rows.rowCount),
  })
  const showNew = useCallback(
    () => void queries.invalidateQueries({ queryKey: ['calls', project, 'newest'] }),
    [queries, project],
  )
  return {
    ...rows,
    span,
    latest,
    request: { ...listed.current, ...shown },
    isEmptyProject,
    error: newest.error ?? rows.error ?? fresh.error,
    newCount: rows.isPending || rows.isStale ? 0 : fresh.data,
    showNew,
  }
}

/** Shows new calls as they arrive, while the top of the list is in view. */
export function useFollowing({ newCount, showNew }: Traces, isAtTop: boolean): void {
  useEffect(() => {
    if (isAtTop && newCount > 0) showNew()
  }, [isAtTop, newCount, showNew])
}

export function filterOf({ calls }: Pick<TracesSearch, 'calls'>): CallsFilter {
  return calls === 'roots' ? { trace_roots_only: true } : {}
}

/** The calls that match, started in a span that may be open at either end. */
export function selectionOf(
  search: Pick<TracesSearch, 'filter' | 'text' | 'calls'>,
  { from, to }: Pick<TimeSpan, 'from'> & { to: number | undefined },
): Pick<CallsRequest, 'filter' | 'query'> {
  const started = { $getField: 'started_at' }
  const literal = (ms: number) => ({ $literal: new Date(ms).toISOString() })
  const operations = operationsOf(search)
  if (from !== undefined) operations.push({ $gte: [started, literal(from)] })
  if (to !== undefined) operations.push({ $lte: [started, literal(to)] })
  return {
    filter: filterOf(search),
    query: operations.length === 0 ? undefined : { $expr: { $and: operations } },
  }
}

/** Chips and search without the time range. */
export function operationsOf({ filter, text }: Pick<TracesSearch, 'filter' | 'text'>): Operation[] {
  const operations = filter.map(operationOf)
  return text === '' ? operations : [...operations, textOperation(text)]
}

function sortBy(sort: string): NonNullable<CallsRequest['sort_by']> {
  const direction = sort.startsWith('-') ? 'desc' : 'asc'
  const column = columnOf(sort.replace(/^-/, ''))
  const field = column.sortField ?? SORT_DEFAULT.slice(1)
  return [{ field, direction }]
}

async function readRows(
  project: string,
  request: CallsRequest,
  { columns, lines, signal }: { columns: readonly string[]; lines: number; signal: AbortSignal },
): Promise<CallRow[]> {
  const paths = pathsOf(columns)
  const textOf = shortText(lines)
  const rows: CallRow[] = []
  for await (const call of streamCalls(project, request, { signal })) rows.push(rowOf(call, paths, textOf))
  return rows
}

/** The end of a list. */
interface Newest {
  /** When the newest call started, rounded up to the whole millisecond; null when there is none. */
  startedAt: number | null
  /** The server's time of the answer. */
  askedAt: number
}

async function readNewest(project: string, filter: CallsFilter, signal: AbortSignal): Promise<Newest> {
  const request = {
    filter,
    limit: 1,
    columns: ['id'],
    sort_by: [{ field: 'started_at', direction: 'desc' as const }],
  }
  let startedAt: number | null = null
  for await (const call of streamCalls(project, request, { signal }))
    startedAt = Date.parse(call.started_at) + 1
  return { startedAt, askedAt: serverNow() }
}
