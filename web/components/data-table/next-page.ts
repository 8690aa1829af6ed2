import type { UseInfiniteQueryResult } from '@tanstack/react-query'
import { useCallback } from 'react'

type PagedState = Pick<UseInfiniteQueryResult, 'hasNextPage' | 'isFetchingNextPage' | 'isFetchNextPageError'>

/**
 * Loads the next page of a list once the row `from` is in view. One that could not be loaded is requested again on
 * `retry` only, since the end of the list stays in view.
 */
export function useNextPage(
  query: PagedState & Pick<UseInfiniteQueryResult, 'fetchNextPage' | 'refetch'>,
  from: number,
) {
  const { fetchNextPage, refetch, isFetchNextPageError } = query
  const isWanted = wantsNextPage(query)
  const onRange = useCallback(
    (_first: number, last: number) => {
      if (isWanted && last >= from) void fetchNextPage()
    },
    [isWanted, fetchNextPage, from],
  )
  return { onRange, retry: () => void (isFetchNextPageError ? fetchNextPage() : refetch()) }
}

/** Whether the next page may be requested, now that its place is in view. */
export function wantsNextPage(state: PagedState): boolean {
  return state.hasNextPage && !state.isFetchingNextPage && !state.isFetchNextPageError
}
