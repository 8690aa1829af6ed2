import type { LinePair } from '../../components/text-diff.ts'

/** Equal lines that are shown around a change, to tell where it is. */
const CONTEXT = 3

/** A line as it is shown, with its number in each text, from 1. */
export interface NumberedPair extends LinePair {
  beforeNumber: number | undefined
  afterNumber: number | undefined
  isSame: boolean
}

/** Lines that are shown, or equal ones that need not be. */
export type Fold = { kind: 'shown' | 'folded'; lines: NumberedPair[] }

/** Parts of a comparison: what is near a change, and the long equal stretches between. */
export function foldedLines(pairs: readonly LinePair[]): Fold[] {
  let [beforeCount, afterCount] = [0, 0]
  const lines = pairs.map(
    (pair): NumberedPair => ({
      ...pair,
      beforeNumber: pair.before === undefined ? undefined : ++beforeCount,
      afterNumber: pair.after === undefined ? undefined : ++afterCount,
      isSame: pair.before === pair.after,
    }),
  )
  const isNear = nearChanges(lines)
  const folds: Fold[] = []
  for (const [index, line] of lines.entries()) {
    const kind = isNear[index] ? 'shown' : 'folded'
    const last = folds.at(-1)
    if (last?.kind === kind) last.lines.push(line)
    else folds.push({ kind, lines: [line] })
  }
  return folds
}

function nearChanges(lines: readonly NumberedPair[]): boolean[] {
  const isNear = lines.map(() => false)
  for (const [index, { isSame }] of lines.entries()) {
    if (isSame) continue
    const last = Math.min(lines.length - 1, index + CONTEXT)
    for (let near = Math.max(0, index - CONTEXT); near <= last; near++) isNear[near] = true
  }
  return isNear
}
