import type { Call } from '../../api/calls.ts'
import { objectOf, valueAt } from '../../api/json.ts'
import { nameOfRef } from '../../api/weave-ref.ts'
import type { Json } from '../../api/wire.ts'

/** What a leaderboard compares models by: one number of the summary of one evaluation. */
export interface BoardColumn {
  evaluation: string
  scorer: string
  path: string
  isLessBetter: boolean
}

/** The columns of a leaderboard's value; none of what is no leaderboard. */
export function columnsOf(board: Json): BoardColumn[] {
  const columns = objectOf(board)['columns']
  return (Array.isArray(columns) ? columns : []).map((column) => {
    const { evaluation_object_ref, scorer_name, summary_metric_path, should_minimize } = objectOf(column)
    return {
      evaluation: String(evaluation_object_ref ?? ''),
      scorer: nameOfRef(scorer_name),
      path: String(summary_metric_path ?? ''),
      isLessBetter: should_minimize === true,
    }
  })
}

/** A model with what it has in each column. */
export interface Standing {
  /** The ref of the model, or another name from the client. */
  model: string
  /** In the order of the columns; undefined where no evaluation has ended. */
  scores: (Score | undefined)[]
}

interface Score {
  value: Json
  /** The evaluation that it is from. */
  call: string
}

/** Each model by its newest evaluations. @param calls of evaluations, the newest first */
export function standingsOf(columns: readonly BoardColumn[], calls: readonly Call[]): Standing[] {
  const standings = new Map<string, Standing>()
  for (const { id, inputs, output } of calls) {
    const { model: of, self, this: self_ } = objectOf(inputs)
    const evaluation = self ?? self_
    if (output === null) continue
    const model = typeof of === 'string' ? of : JSON.stringify(of ?? null)
    for (const [place, column] of columns.entries()) {
      if (column.evaluation !== evaluation) continue
      const summary = objectOf(output)[column.scorer]
      const hasPaths = typeof summary === 'object' && summary !== null
      const value = hasPaths ? valueAt(summary, column.path) : summary
      if (value === undefined || value === null) continue
      const standing = standings.get(model) ?? { model, scores: columns.map(() => undefined) }
      standing.scores[place] ??= { value, call: id }
      standings.set(model, standing)
    }
  }
  return [...standings.values()]
}

/** The best of a column first, or the worst; models without a number in it are last. */
export function rankedBy(
  standings: readonly Standing[],
  { by, worst }: { by: number; worst: boolean },
  columns: readonly BoardColumn[],
): Standing[] {
  const sign = (columns[by]?.isLessBetter ?? false) === worst ? -1 : 1
  const numberOf = ({ scores }: Standing) => {
    const value = scores[by]?.value
    return typeof value === 'number' ? value : typeof value === 'boolean' ? Number(value) : undefined
  }
  return standings.toSorted((one, other) => {
    const [a, b] = [numberOf(one), numberOf(other)]
    if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined)
    return sign * (a - b)
  })
}
