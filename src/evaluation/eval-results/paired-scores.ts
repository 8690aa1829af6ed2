import { isRecord } from '../../json/is-record.ts'
import { joinPath } from '../../trace/query-language/json-path.ts'
import { forEachYielding } from '../../yielding.ts'
import type { RowOfTrials, TrialPosition } from './sorted-trials.ts'
import type * as wire from './wire.ts'

interface Pairing {
  /** The evaluation that the others are compared with. */
  baseline: string
  /** What a trial was scored, by its id. */
  scoresOf: (trial: string) => Record<string, unknown>
  /** The ids of trials with an error. */
  errors: ReadonlySet<string>
  /** Fields of truths, of which a trial with an error and without a value is false. */
  shares: ReadonlySet<string>
}

type Paired = NonNullable<wire.Summary['evaluations'][number]['paired']>

/**
 * Compares evaluations with one of them over the same rows: of each field, those that both have a value of. A row
 * counts once, by the mean of its trials.
 */
export async function pairScores(
  rows: readonly RowOfTrials[],
  pairing: Pairing,
): Promise<Map<string, Paired>> {
  const sums = new Map<string, Map<string, Sum>>()
  await forEachYielding(rows, ({ trials }) => {
    const groups = Map.groupBy(trials, ({ root }) => root)
    const base = groups.get(pairing.baseline)
    if (base === undefined || groups.size === 1) return
    groups.delete(pairing.baseline)
    const baseMeans = meansOf(base, pairing)
    for (const [evaluation, own] of groups) {
      const fields = sums.get(evaluation) ?? new Map<string, Sum>()
      sums.set(evaluation, fields)
      for (const [field, mean] of meansOf(own, pairing)) {
        const baseMean = baseMeans.get(field)
        if (baseMean === undefined) continue
        const { rows: count, own: sum, base: baseSum } = fields.get(field) ?? { rows: 0, own: 0, base: 0 }
        fields.set(field, { rows: count + 1, own: sum + mean, base: baseSum + baseMean })
      }
    }
  })
  return new Map(sums.entries().map(([evaluation, fields]) => [evaluation, [...fields].map(pairOf)]))
}

interface Sum {
  rows: number
  own: number
  base: number
}

function pairOf([field, { rows, own, base }]: [string, Sum]): Paired[number] {
  return { field, row_count: rows, score: own / rows, baseline_score: base / rows }
}

/** Of each field the mean of the trials that have a value. */
function meansOf(
  trials: readonly TrialPosition[],
  { scoresOf, errors, shares }: Pairing,
): Map<string, number> {
  const values = trials.flatMap(({ id }) => {
    const leaves = new Map(leavesIn(scoresOf(id), []))
    if (errors.has(id)) for (const field of shares) if (!leaves.has(field)) leaves.set(field, 0)
    return [...leaves]
  })
  return new Map(
    Map.groupBy(values, ([field]) => field)
      .entries()
      .map(([field, found]) => [field, found.reduce((sum, [, value]) => sum + value, 0) / found.length]),
  )
}

/** The numbers and truths below a value by their fields; true is 1. */
function leavesIn(value: unknown, path: readonly string[]): [string, number][] {
  if (isRecord(value))
    return Object.entries(value).flatMap(([name, member]) => leavesIn(member, [...path, name]))
  const isCounted = typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))
  return isCounted ? [[joinPath(['scores', ...path]), Number(value)]] : []
}
