import { formatDuration, formatNumber } from '../../components/format.ts'
import { type Metric, titleOf } from './metrics.ts'
import { type CompareRow, scoreOfRow } from './results-row.ts'
import { letterOf } from './run-letter.tsx'

/** What is measured of each row beside what scorers say. */
const LATENCY = 'latency'

/** A metric, or the latency. */
export type Measure = Metric | typeof LATENCY

export function nameOf(measure: Measure): string {
  return measure === LATENCY ? LATENCY : titleOf(measure)
}

/** A number that each row has: a metric, or the latency, of one of the runs. */
export interface Axis {
  /** Such as `A length`: stands in the address. */
  key: string
  run: string
  measure: Measure
}

/** Every number of every run; runs are named as everywhere on the page, by letters. */
export function axesOf(runs: readonly string[], metrics: readonly Metric[]): Axis[] {
  return measuresOf(metrics).flatMap((measure) =>
    runs.map((run, index) => ({ key: `${letterOf(index)} ${nameOf(measure)}`, run, measure })),
  )
}

/** The metrics and the latency. */
export function measuresOf(metrics: readonly Metric[]): Measure[] {
  return [...metrics, LATENCY]
}

/**
 * Those that are drawn: what the address names, or else the first metric of the first two runs, or of one its first
 * two.
 */
export function chosenAxes(
  axes: readonly Axis[],
  wanted: { x: string; y: string },
): [Axis, Axis] | undefined {
  const [first] = axes
  const second = axes.find((axis) => axis !== first)
  const x = axes.find(({ key }) => key === wanted.x) ?? first
  const y = axes.find(({ key }) => key === wanted.y) ?? second
  return x === undefined || y === undefined ? undefined : [x, y]
}

/** Of one row; undefined where the run has no such row, or no score of it. */
export function rowValue(
  row: CompareRow,
  { run, measure }: Pick<Axis, 'run' | 'measure'>,
): number | undefined {
  const cell = row.runs.get(run)
  return measure === LATENCY ? (cell?.latencyMs ?? undefined) : scoreOfRow(cell, measure)
}

/** In the form of its kind. */
export function formatOf(measure: Measure): (value: number) => string {
  return measure === LATENCY ? formatDuration : formatNumber
}

/** How many rows are better, worse and the same on the second of two axes that measure the same. */
export function tally(points: readonly { x: number; y: number }[], measure: Measure) {
  const sign = measure === LATENCY || measure.isLessBetter ? -1 : 1
  const better = points.filter(({ x, y }) => (y - x) * sign > 0).length
  const same = points.filter(({ x, y }) => x === y).length
  return { better, worse: points.length - better - same, same }
}
