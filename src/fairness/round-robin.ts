/** The items of all lists: the first of each list, then the second of each, and so on. */
export function roundRobin<Item>(lists: readonly (readonly Item[])[]): Item[] {
  const rounds = Math.max(0, ...lists.map((list) => list.length))
  return Array.from({ length: rounds }, (_, round) =>
    lists.flatMap((list) => list.slice(round, round + 1)),
  ).flat()
}
