import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { readKinds } from '../../../api/op-kinds.ts'
import { LIVE_MS } from '../../../api/query-client.ts'
import { serverNow } from '../../../api/server-clock.ts'
import { readCosts, readTraceId, streamTrace, type TraceCall } from '../../../api/trace.ts'
import { ABANDONED_MS, buildTree, type TraceTree } from './trace-tree.ts'

/** A large trace is shown as it arrives: soon at first, then less and less often, since each update costs more. */
const FIRST_PROGRESS_MS = 80
const PROGRESS_GROWTH = 2
/** A trace is requested again as a whole, a large one accordingly seldom. */
const CALLS_PER_LIVE_MS = 2000
/** Tens of thousands of calls are some megabytes, which are dropped once the page is left. */
const FORGET_MS = 60_000

interface Loaded {
  calls: readonly TraceCall[]
  isComplete: boolean
}

export interface Trace {
  /** Undefined until the first calls have come. */
  tree: TraceTree | undefined
  isComplete: boolean
  /** There is no such call. */
  isMissing: boolean
  error: Error | null
  retry: () => void
}

/** The tree that a call is in, growing while it is read. */
export function useTrace(project: string, id: string): Trace {
  const queries = useQueryClient()
  const located = useQuery({
    queryKey: ['calls', project, 'trace-of', id],
    queryFn: ({ signal }) => readTraceId(project, id, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
    // Another call is most often of the same trace, which then stays.
    placeholderData: keepPreviousData,
    // A link may be opened before its call has arrived.
    refetchInterval: ({ state }) => (state.data === null ? LIVE_MS : false),
  })
  const traceId = located.data ?? ''
  const key = ['calls', project, 'trace', traceId]
  const loaded = useQuery({
    queryKey: key,
    enabled: traceId !== '',
    gcTime: FORGET_MS,
    refetchOnWindowFocus: false,
    structuralSharing: false,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<Loaded> => {
      const isFirst = queries.getQueryData(key) === undefined
      const calls: TraceCall[] = []
      let waitMs = FIRST_PROGRESS_MS
      let shownAt = performance.now()
      for await (const call of streamTrace(project, traceId, { signal })) {
        calls.push(call)
        if (!isFirst || performance.now() - shownAt < waitMs) continue
        queries.setQueryData<Loaded>(key, { calls: calls.slice(), isComplete: false })
        shownAt = performance.now()
        waitMs *= PROGRESS_GROWTH
      }
      return { calls, isComplete: true }
    },
    refetchInterval: ({ state }) => (state.data === undefined ? false : liveMs(state.data)),
  })
  const { data } = loaded
  const priced = data?.isComplete ? data.calls.filter(({ tokens }) => tokens.size > 0).length : 0
  const { data: costs } = useQuery({
    queryKey: ['calls', project, 'trace-costs', traceId, priced],
    enabled: priced > 0,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: FORGET_MS,
    structuralSharing: false,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => readCosts(project, traceId, { signal }),
  })
  const { data: kinds } = useQuery({
    queryKey: ['calls', project, 'trace-kinds', traceId, data?.calls.length],
    enabled: data?.isComplete === true,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: FORGET_MS,
    structuralSharing: false,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => readKinds(project, traceId, { signal }),
  })
  const tree = useMemo(
    () =>
      data === undefined || data.calls.length === 0
        ? undefined
        : buildTree(data.calls, serverNow(), { costs, kinds }),
    [data, costs, kinds],
  )
  return {
    tree,
    isComplete: data?.isComplete ?? false,
    isMissing: located.data === null,
    error: located.error ?? loaded.error,
    retry: () => {
      if (located.error !== null) void located.refetch()
      if (loaded.error !== null) void loaded.refetch()
    },
  }
}

function liveMs({ calls, isComplete }: Loaded): number | false {
  const since = serverNow() - ABANDONED_MS
  const newest = calls.reduce((last, { startedMs, endedMs }) => Math.max(last, startedMs, endedMs ?? 0), 0)
  const isRunning = newest > since && calls.some(({ endedMs }) => endedMs === null)
  return isComplete && isRunning ? LIVE_MS * Math.ceil(calls.length / CALLS_PER_LIVE_MS) : false
}
