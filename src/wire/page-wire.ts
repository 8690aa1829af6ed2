import { z } from 'zod'

/** Query of a cursor-paged list. Wire: `after` is the id of the last item seen, and is sent again and again. */
export const PageQuery = z.object({
  after: z.string().optional(),
  limit: z.int().min(1).max(100).default(20),
})
export type PageQuery = z.output<typeof PageQuery>

/** The same of an endpoint that no client but Heddle's own knows: a misspelt parameter is refused and not ignored. */
export const StrictPageQuery = z.strictObject(PageQuery.shape)

/** Wire: clients read `data` and `has_more` only; without `has_more` they would ask once more. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({
    object: z.literal('list'),
    data: z.array(item),
    has_more: z.boolean(),
    first_id: z.string(),
    last_id: z.string(),
  })
}

export interface ListPage<Item> {
  object: 'list'
  data: Item[]
  has_more: boolean
  first_id: string
  last_id: string
}

/** Makes a page from one item more than requested, which shows whether there are more. */
export function toPage<Item extends { id: string }>(items: Item[], limit: number): ListPage<Item> {
  const data = items.slice(0, limit)
  return {
    object: 'list',
    data,
    has_more: items.length > limit,
    first_id: data[0]?.id ?? '',
    last_id: data.at(-1)?.id ?? '',
  }
}
