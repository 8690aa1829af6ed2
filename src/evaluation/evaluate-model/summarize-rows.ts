import { isRecord } from '../../json/is-record.ts'
import { autoSummarize, type Summary } from '../auto-summarize.ts'
import type { Scorer } from '../scorers/scorer.ts'

/**
 * The summary of an evaluation from the results of its rows, as the Python client's `Evaluation.summarize` has it: each
 * scorer's results under its name, then what else the rows have. A row that failed has no scores and stays in the
 * denominator of shares; one whose score is null does not.
 */
export function summarizeRows(rows: readonly unknown[], scorers: readonly Pick<Scorer, 'name'>[]): Summary {
  const outcomes = rows.map(outcomeOf)
  const summary: Summary = {}
  const output = autoSummarize(outcomes.map((outcome) => outcome.output))
  if (output !== null && Object.keys(output).length > 0) summary['output'] = output
  for (const { name } of scorers)
    summary[name] = autoSummarize(
      outcomes.map(({ scores }) => (Object.hasOwn(scores, name) ? scores[name] : {})),
    )
  const latencies = outcomes.flatMap(({ model_latency }) =>
    typeof model_latency === 'number' ? [model_latency] : [],
  )
  const latency = autoSummarize(latencies)
  if (latencies.length > 0 && latency !== null) summary['model_latency'] = latency
  return summary
}

interface Outcome {
  output: unknown
  scores: Record<string, unknown>
  model_latency: unknown
}

function outcomeOf(row: unknown): Outcome {
  const { output = null, scores, model_latency } = isRecord(row) ? row : {}
  return { output, scores: isRecord(scores) ? scores : {}, model_latency }
}
