import type { z } from 'zod'

/**
 * Nodes of a query beside plain literals. A query has at most 250 conditions of some five each; an operation that is
 * wrong is tried as each kind, which takes 150 µs.
 */
const PARTS_MAX = 8_000

/**
 * Preprocesses a query: one of too many nodes is refused before each is checked.
 * @param isLiteral says which nodes are plain literals, of which a query may have any number
 */
export function boundedParts(isLiteral: (node: object) => boolean) {
  return (query: unknown, { addIssue }: z.core.$RefinementCtx): unknown => {
    if (hasMoreParts(query, isLiteral))
      addIssue({ code: 'custom', message: `A query has at most ${PARTS_MAX} parts` })
    return query
  }
}

function hasMoreParts(query: unknown, isLiteral: (node: object) => boolean): boolean {
  let parts = 0
  const left: unknown[] = [query]
  while (left.length > 0) {
    const value = left.pop()
    const isObject = typeof value === 'object' && value !== null
    if (isObject && isLiteral(value)) continue
    if (++parts > PARTS_MAX) return true
    if (isObject) for (const part of Object.values(value)) left.push(part)
  }
  return false
}
