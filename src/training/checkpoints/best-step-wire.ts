/** Wire: the metric by which clients choose their best checkpoint by default. */
export const BEST_METRIC_DEFAULT = 'val/reward'

/** The mean reward of the trajectories that a step was trained on. Every step of RL has it. */
export const REWARD = 'reward'

/** A model's rule for its best step. */
export interface BestRule {
  best_metric: string
  best_mode: 'max' | 'min'
}

interface Measured {
  metrics: Readonly<Record<string, number | undefined>>
}

/**
 * The step that `:best` names: the one with the best value of the model's metric; of equal values, the latest. If the
 * model has the default metric and none of its steps was validated, the step with the highest reward. There is no such
 * fallback for a chosen metric.
 *
 * @param steps in ascending order
 * @returns undefined where no step has the metric
 */
export function findBest<Step extends Measured>(
  { best_metric, best_mode }: BestRule,
  steps: readonly Step[],
): { step: Step; metric: string; value: number } | undefined {
  const has = (metric: string) => steps.some(({ metrics }) => metrics[metric] !== undefined)
  const isReplaced = best_metric === BEST_METRIC_DEFAULT && !has(best_metric)
  const metric = isReplaced ? REWARD : best_metric
  const sign = !isReplaced && best_mode === 'min' ? -1 : 1
  let best: { step: Step; metric: string; value: number } | undefined
  for (const step of steps) {
    const value = step.metrics[metric]
    if (value !== undefined && (best === undefined || sign * (value - best.value) >= 0))
      best = { step, metric, value }
  }
  return best
}
