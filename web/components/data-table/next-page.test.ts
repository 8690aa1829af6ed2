import { InfiniteQueryObserver } from '@tanstack/react-query'
import { expect, it } from 'vitest'
import { ApiError } from '../../api/client.ts'
import { createQueryClient } from '../../api/query-client.ts'
import { wantsNextPage } from './next-page.ts'

it('a page that is refused is not requested again by itself, and the next ones are once it has come', async () => {
  let refusals = 1
  const requested: number[] = []
  const observer = new InfiniteQueryObserver(createQueryClient(), {
    queryKey: ['a list'],
    initialPageParam: 0,
    queryFn: async ({ pageParam }) => {
      requested.push(pageParam)
      if (pageParam === 1 && refusals-- > 0) throw new ApiError(400, 'no')
      return [pageParam]
    },
    getNextPageParam: (_last, pages) => (pages.length < 4 ? pages.length : undefined),
  })
  // The end of the list stays in view.
  const leave = observer.subscribe((result) => {
    if (requested.length < 20 && wantsNextPage(result)) void result.fetchNextPage()
  })
  await expect.poll(() => observer.getCurrentResult().isFetchNextPageError).toBe(true)
  await new Promise((wake) => setTimeout(wake))
  expect(requested).toEqual([0, 1])
  void observer.fetchNextPage()
  await expect.poll(() => observer.getCurrentResult().hasNextPage).toBe(false)
  expect(requested).toEqual([0, 1, 1, 2, 3])
  leave()
})
