import type { StepMetrics } from './queries.ts'

/** Selects a checkpoint of a model: a step, the newest, the best, or an artifact alias. */
export type Selector = number | 'latest' | 'best' | { alias: string }

/** Reads `3`, `step3`, `latest`, `best`, `v3` or a tag. */
export function parseSelector(text: string): Selector {
  const digits = /^(?:step)?(\d{1,15})$/.exec(text)?.[1]
  if (digits !== undefined) return Number(digits)
  return text === 'latest' || text === 'best' ? text : { alias: text }
}

/** The step with the best value of the model's metric, the later one of equals; undefined when none has it. */
export function findBest(
  rows: readonly StepMetrics[],
  { best_metric, best_mode }: { best_metric: string; best_mode: 'max' | 'min' },
): number | undefined {
  const sign = best_mode === 'max' ? 1 : -1
  let best: { step: number; value: number } | undefined
  for (const row of rows) {
    const metrics = JSON.parse(row.metrics) as Record<string, number | undefined>
    const value = metrics[best_metric]
    if (value === undefined) continue
    if (best === undefined || sign * value >= sign * best.value) best = { step: row.step, value }
  }
  return best?.step
}
