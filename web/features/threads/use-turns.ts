import { type InfiniteData, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import type { Call } from '../../api/calls.ts'
import { LIVE_MS } from '../../api/query-client.ts'
import { LATER_TURNS_MAX, readLaterTurns, readThread, readTurns, type TurnPlace } from '../../api/threads.ts'

/** Turns of one request; their payloads may be whole histories. */
const PAGE_TURNS = 20

/** Turns of a page, the newest first, and whether there may be earlier ones. */
interface TurnPage {
  turns: Call[]
  hasEarlier: boolean
}

/**
 * The turns of a thread, of which earlier pages are loaded on request. What is loaded stays: when another turn has
 * ended, only turns that began later, and those that still ran, are read.
 */
export function useTurns(project: string, thread: string) {
  const queries = useQueryClient()
  const { data: facts } = useQuery({
    queryKey: ['threads', project, 'one', thread],
    queryFn: ({ signal }) => readThread(project, thread, { signal }),
    refetchInterval: LIVE_MS,
  })
  const queryKey = ['calls', project, 'turns', thread]
  const query = useInfiniteQuery({
    queryKey,
    initialPageParam: undefined as TurnPlace | undefined,
    queryFn: async ({ pageParam, signal }): Promise<TurnPage> => {
      const turns = await readTurns(project, thread, { limit: PAGE_TURNS, before: pageParam, signal })
      return { turns, hasEarlier: turns.length === PAGE_TURNS }
    },
    getNextPageParam: ({ turns, hasEarlier }) => (hasEarlier ? turns.at(-1) : undefined),
    // Kept up to date by the query below.
    staleTime: Number.POSITIVE_INFINITY,
  })
  const known = query.data?.pages.flatMap((page) => page.turns)
  const last = facts?.last_turn_id ?? undefined
  const isBehind =
    known !== undefined &&
    last !== undefined &&
    !known.some(({ id, ended_at }) => id === last && ended_at !== null)
  const later = useQuery({
    queryKey: ['calls', project, 'later-turns', thread, last],
    queryFn: async ({ signal }) => {
      const running = (known ?? []).filter(({ ended_at }) => ended_at === null).map(({ id }) => id)
      const found = await readLaterTurns(project, thread, { after: known?.[0], running, signal })
      // Where there are too many to be read at once, the thread is read anew from its end.
      if (found.length >= LATER_TURNS_MAX) await queries.resetQueries({ queryKey, exact: true })
      else queries.setQueryData<InfiniteData<TurnPage>>(queryKey, (data) => data && yielding(data, found))
      return found.length
    },
    // Two that change the same pages at once would lose what one of them has found.
    enabled: isBehind && !query.isFetching,
    staleTime: Number.POSITIVE_INFINITY,
  })
  return { facts, query, turns: known?.toReversed(), isLoadingLater: later.isFetching }
}

/** Loaded pages with turns as they now are: known ones are replaced, and others added to the newest page. */
function yielding(data: InfiniteData<TurnPage>, found: readonly Call[]): InfiniteData<TurnPage> {
  const byId = new Map(found.map((call) => [call.id, call]))
  const pages = data.pages.map((page) => ({
    ...page,
    turns: page.turns.map((call) => {
      const now = byId.get(call.id)
      byId.delete(call.id)
      return now ?? call
    }),
  }))
  const added = found.filter(({ id }) => byId.has(id))
  return {
    ...data,
    pages: pages.map((page, index) => (index === 0 ? { ...page, turns: [...added, ...page.turns] } : page)),
  }
}
