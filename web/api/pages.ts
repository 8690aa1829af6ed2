import { infiniteQueryOptions } from '@tanstack/react-query'
import { askJson } from './client.ts'

/** A list that comes in pages, by the cursor of the last item seen. */
interface ListPage<Item> {
  data: Item[]
  has_more: boolean
}

interface Pages<Item> {
  /** Begins the query's key, before the parameters. */
  key: readonly string[]
  path: string
  query?: Record<string, string>
  /** What the server knows an item by. */
  cursorOf: (item: Item) => string
}

/** Items of one request, the most that the server gives. */
const PAGE_ITEMS = '100'

/** A list, page after page. */
export function pagesQuery<Item>({ key, path, query = {}, cursorOf }: Pages<Item>) {
  return infiniteQueryOptions({
    queryKey: [...key, query],
    initialPageParam: '',
    queryFn: ({ signal, pageParam }) => {
      const after = pageParam === '' ? {} : { after: pageParam }
      const params = new URLSearchParams({ ...query, limit: PAGE_ITEMS, ...after })
      return askJson<ListPage<Item>>(`${path}?${params}`, { signal })
    },
    getNextPageParam: ({ data, has_more }) => {
      const last = data.at(-1)
      return has_more && last !== undefined ? cursorOf(last) : undefined
    },
    select: ({ pages }) => pages.flatMap(({ data }) => data),
  })
}
