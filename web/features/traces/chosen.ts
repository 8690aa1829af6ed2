/** Which calls of a list are chosen: some, or all that match but for a few. */
export interface Chosen {
  kind: 'these' | 'all but these'
  ids: ReadonlySet<string>
}

export const NONE_CHOSEN: Chosen = { kind: 'these', ids: new Set() }
export const ALL_CHOSEN: Chosen = { kind: 'all but these', ids: new Set() }

export function isChosen({ kind, ids }: Chosen, id: string): boolean {
  return ids.has(id) === (kind === 'these')
}

/** @param total how many there are to choose from */
export function chosenCount({ kind, ids }: Chosen, total: number): number {
  return kind === 'these' ? ids.size : Math.max(0, total - ids.size)
}

export function chosenShare(chosen: Chosen, total: number): 'none' | 'some' | 'all' {
  const count = chosenCount(chosen, total)
  return count === 0 ? 'none' : count < total ? 'some' : 'all'
}

/** Chooses all of some calls, or none of them. */
export function choose(chosen: Chosen, some: readonly string[], how: 'in' | 'out'): Chosen {
  const ids = new Set(chosen.ids)
  const isListed = (how === 'in') === (chosen.kind === 'these')
  for (const id of some)
    if (isListed) ids.add(id)
    else ids.delete(id)
  return { kind: chosen.kind, ids }
}
