/** Items that one page holds at most. Wire: clients ask for 5,000 files at once. */
const FIRST_MAX = 5_000

/** Wire: clients that do not say get 50 items. */
const FIRST_DEFAULT = 50

/** The arguments of every paged field. */
export interface PageArguments {
  first?: number | null
  after?: string | null
}

/** How many items to ask for: one more than the page has, which shows whether there are more. */
export function limitOf(args: PageArguments): number {
  return sizeOf(args) + 1
}

/** A page with a cursor for each item. */
export interface Connection<Item> {
  edges: { node: Item; cursor: string }[]
  pageInfo: { endCursor: string | null; hasNextPage: boolean }
}

export function connectionOf<Item>(
  items: readonly Item[],
  args: PageArguments,
  cursorOf: (item: Item) => string,
): Connection<Item> {
  const page = items.slice(0, sizeOf(args))
  const edges = page.map((node) => ({ node, cursor: cursorOf(node) }))
  return {
    edges,
    pageInfo: { endCursor: edges.at(-1)?.cursor ?? null, hasNextPage: items.length > page.length },
  }
}

function sizeOf({ first }: PageArguments): number {
  return Math.max(0, Math.min(first ?? FIRST_DEFAULT, FIRST_MAX))
}
