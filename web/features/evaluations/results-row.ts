import type { ResultsRow } from '../../api/evaluations.ts'
import { exceptionText } from '../../api/exception-text.ts'
import { numberOf, objectOf, pathOf } from '../../api/json.ts'
import type { Json } from '../../api/wire.ts'
import { preview } from '../../components/json-view/json-lines.ts'
import type { Metric } from './metrics.ts'

const CELL_CHARS = 256

/** One row of a dataset with what each run made of it: short texts, however large its payloads are. */
export interface CompareRow {
  digest: string
  input: string
  /** By the id of the run. */
  runs: Map<string, RunCell>
}

export interface RunCell {
  output: string
  /** The first error of its trials, on one line; empty where none has one. */
  error: string
  trials: readonly { scores: ReadonlyMap<string, number>; isError: boolean }[]
  latencyMs: number | null
}

export function compareRow({ row_digest, raw_data_row, evaluations }: ResultsRow): CompareRow {
  return {
    digest: row_digest,
    input: inputText(raw_data_row),
    runs: new Map(
      evaluations.map(({ evaluation_call_id, trials }) => [
        evaluation_call_id,
        {
          output: preview(trials[0]?.model_output ?? null, CELL_CHARS),
          error: errorLine(trials.find(({ error }) => error)?.error),
          trials: trials.map(({ scores, error }) => ({ scores: leavesIn(scores), isError: !!error })),
          latencyMs: meanOf(
            trials.flatMap(({ model_latency_seconds: seconds }) =>
              seconds === null ? [] : [seconds * 1000],
            ),
          ),
        },
      ]),
    ),
  }
}

/** The values of a row beside each other: their names are the same in every row. */
function inputText(row: Json): string {
  const values = Object.values(objectOf(row)).map((value) => preview(value ?? null, CELL_CHARS))
  return values.length === 0 ? preview(row, CELL_CHARS) : values.join(' · ').slice(0, CELL_CHARS)
}

/** Numbers and booleans in outputs of scorers, by the metrics that they are values of; true is 1. */
export function leavesIn(scores: Json | undefined, path: readonly string[] = []): Map<string, number> {
  const number = numberOf(scores)
  if (number !== null) return new Map([[pathOf(path), number]])
  if (typeof scores === 'boolean') return new Map([[pathOf(path), scores ? 1 : 0]])
  return new Map(
    Object.entries(objectOf(scores)).flatMap(([name, value]) => [...leavesIn(value, [...path, name])]),
  )
}

/**
 * The mean over the trials of a row, of which those with an error count as failures; undefined where none has a value.
 */
export function scoreOfRow(
  cell: Pick<RunCell, 'trials'> | undefined,
  { id, isShare }: Pick<Metric, 'id' | 'isShare'>,
): number | undefined {
  const values = (cell?.trials ?? []).flatMap(
    ({ scores, isError }) => scores.get(id) ?? (isError && isShare ? 0 : []),
  )
  return meanOf(values) ?? undefined
}

function errorLine(error: string | null | undefined): string {
  return error ? exceptionText(error).line.slice(0, CELL_CHARS) : ''
}

function meanOf(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length
}
